// A tool in the form of the Vercel AI SDK: description, inputSchema, execute.
//
//     node examples/agents/vercel_tool.mjs
//
// With the package `ai`, pass `{ runCode }` as `tools` of generateText or streamText; `jsonSchema(...)` and `tool(...)` of
// `ai` accept these objects. The abort of a chat cancels the run. With the package installed, import from "belljar".

import { Belljar, explain } from "../../sdk/typescript/dist/node.js";

export function makeTools(jar) {
  return {
    runCode: {
      description: "Runs a program in a sandbox and returns its output, or the cause of its failure.",
      inputSchema: {
        type: "object",
        properties: {
          language: { type: "string", enum: ["python", "javascript", "typescript", "bash"] },
          code: { type: "string", description: "the whole program" },
        },
        required: ["language", "code"],
      },
      async execute({ language, code }, { abortSignal } = {}) {
        const result = await jar.run(code, { language, timeout: 20, signal: abortSignal });
        return result.success ? { output: result.stdout } : { output: result.stdout, error: explain(result) };
      },
    },
  };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const jar = new Belljar();
  const { runCode } = makeTools(jar);
  // These calls stand in for those of a model.
  console.log(await runCode.execute({ language: "javascript", code: "console.log([1, 2, 3].map(n => n * n))" }));
  console.log((await runCode.execute({ language: "python", code: "print(undefined_name)" })).error.split("\n")[0]);
  const stop = AbortSignal.timeout(300);
  await runCode.execute({ language: "bash", code: "sleep 15" }, { abortSignal: stop }).catch((e) => console.log(e.name));
  jar.close();
}
