// Lists and calls every tool with the clients of MCP's makers: 1.x over HTTP and stdio, 2.x over HTTP.
//     node mcp.mjs http://127.0.0.1:6080/mcp /path/to/belljar
import assert from "node:assert/strict";
import { Client as ClientOne } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpOne } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as ClientTwo, StreamableHTTPClientTransport as HttpTwo } from "@modelcontextprotocol/client";

const [url, belljar] = process.argv.slice(2);

async function callEvery(name, client, transport) {
    await client.connect(transport);
    const { tools } = await client.listTools();
    const called = new Set();
    const call = async (tool, args, options) => {
        called.add(tool);
        const result = await client.callTool({ name: tool, arguments: args }, ...(options ?? []));
        assert.ok(!result.isError, `${tool}: ${JSON.stringify(result)}`);
        return result;
    };
    const first = await call("write_file", { path: "a.txt", content: "from a file" });
    const session = first.structuredContent.session;
    const ran = await call("run_code", { code: "print(1)", language: "python" });
    assert.equal(ran.content[0].text, "1\n");
    assert.equal(ran.structuredContent.exit_code, 0);
    const cell = await call("run_cell", { session, code: "text = open('a.txt').read(); text" });
    assert.equal(cell.structuredContent.result, "'from a file'");
    assert.match((await call("list_files", { session })).content[0].text, /a\.txt/);
    const read = await call("read_file", { session, path: "a.txt" });
    assert.equal(read.content[0].text, "from a file");
    const { contents } = await client.readResource({ uri: read.content[1].uri });
    assert.equal(contents[0].text, "from a file");
    const copies = (await call("fork_session", { session })).structuredContent.copies;
    assert.equal(copies.length, 1);
    await call("undo", { session });
    await call("end_session", { session: copies[0] });
    assert.match((await call("list_languages", {})).content[0].text, /python/);
    await call("explain_error", { error: "NameError: name 'x' is not defined", language: "python" });
    await call("end_session", { session });
    const bad = await client.callTool({ name: "run_code", arguments: { code: "print(y)", language: "python" } });
    assert.ok(bad.isError && bad.content[0].text.startsWith("Failed"));
    assert.ok((await client.listResources()).resources.length > 0);
    assert.ok((await client.listResourceTemplates()).resourceTemplates.length > 0);
    assert.ok((await client.listPrompts()).prompts.length > 0);
    assert.ok((await client.getPrompt({ name: "fix_code", arguments: { code: "x" } })).messages.length > 0);
    assert.deepEqual([...called].sort(), tools.map((t) => t.name).sort());
    await client.close();
    console.log(`${name}: every tool of ${called.size} was called`);
}

const who = { name: "belljar-test", version: "1.0.0" };
await callEvery("sdk 1.x over HTTP", new ClientOne(who), new HttpOne(new URL(url)));
await callEvery("sdk 1.x over stdio", new ClientOne(who), new StdioClientTransport({
    command: belljar, args: ["mcp"], env: process.env, stderr: "inherit" }));
await callEvery("client 2.x over HTTP", new ClientTwo(who, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
    new HttpTwo(new URL(url)));
process.exit(0);
