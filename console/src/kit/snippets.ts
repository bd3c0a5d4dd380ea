// The request of a run as a program for other tools. The key is read from the environment, never copied.
import { hasKey } from "./api";

export const base = () => location.origin;
const VARIABLE = "BELLJAR_API_KEY";

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
/** A literal of Python and of JavaScript: JSON without the two characters that end a line in old JavaScript. */
const literal = (text: string) => JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");

export const curl = (body: unknown) =>
  `curl -sS ${base()}/v1/runs -H 'Content-Type: application/json' \\\n` +
  (hasKey() ? `     -H "Authorization: Bearer $${VARIABLE}" \\\n` : "") +
  `     -d ${quote(JSON.stringify(body))}\n`;

export const python = (body: unknown) => `import json
${hasKey() ? "import os\n" : ""}import urllib.request

REQUEST = json.loads(${literal(JSON.stringify(body))})

request = urllib.request.Request("${base()}/v1/runs", json.dumps(REQUEST).encode(),
                                 {"Content-Type": "application/json"})
${hasKey() ? `request.add_header("Authorization", "Bearer " + os.environ["${VARIABLE}"])\n` : ""}with urllib.request.urlopen(request) as reply:
    result = json.load(reply)
print(result["verdict"])
print(result["stdout"], end="")
`;

export const typescript = (body: unknown) => `const request = ${JSON.stringify(body, null, 2)};

const reply = await fetch("${base()}/v1/runs", {
  method: "POST",
  headers: {
    "Content-Type": "application/json",
${hasKey() ? `    Authorization: \`Bearer \${process.env.${VARIABLE}}\`,\n` : ""}  },
  body: JSON.stringify(request),
});
const result = await reply.json();
console.log(result.verdict);
console.log(result.stdout);
`;
