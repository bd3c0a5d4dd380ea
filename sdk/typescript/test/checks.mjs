// The package against a real service ($BELLJAR_URL, $BELLJAR_API_KEY), and against servers that misbehave.
// tests/e2e/test_sdk_typescript.py starts this; each check is a promise there. Prints one line of JSON a check.

import assert from "node:assert/strict";
import net from "node:net";
import * as belljar from "../dist/node.js";
import { Belljar as BrowserBelljar } from "../dist/index.js";

const { Belljar, bytesOf, explain, imagesOf, textOf } = belljar;
const jar = new Belljar();
const bytes = (text) => new TextEncoder().encode(text);
const text = (data) => new TextDecoder().decode(data);
const NAP = "import time; print('go', flush=True); time.sleep(60)";

async function collect(stream) {
  let heard = "";
  for await (const event of stream) heard += textOf(event);
  return heard;
}

async function eventually(look) {
  for (let i = 0; i < 400; i++) {
    if (await look()) return true;
    await new Promise((wake) => setTimeout(wake, 50));
  }
  return false;
}

const verdictOf = async (id) => (await jar.runs.get(id).state()).verdict;

/** A server whose connections get the next of the given answers; WAIT leaves the client waiting. */
async function fake(answers, use) {
  const requests = [];
  const server = net.createServer((socket) => {
    let head = "";
    socket.on("error", () => {});
    socket.on("data", (data) => {
      const whole = head.includes("\r\n\r\n");
      head += data;
      if (whole || !head.includes("\r\n\r\n")) return;
      requests.push(head.split("\r\n")[0]);
      const reply = answers.length ? answers.shift() : "";
      if (reply !== WAIT) socket.end(reply);
    });
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  try {
    await use(`http://127.0.0.1:${server.address().port}`, requests);
  } finally {
    server.close();
    server.closeAllConnections?.();
  }
}
const WAIT = Symbol("wait");

const answer = (status, body = "{}", headers = []) =>
  [`HTTP/1.1 ${status} Word`, "Content-Type: application/json", `Content-Length: ${body.length}`, ...headers].join("\r\n") +
  "\r\n\r\n" + body;
const ERROR = '{"error": {"code": "busy", "message": "too many runs", "field": null}}';
const STREAM = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n" +
  '24\r\n{"event":"queued","seq":0,"id":"r"}\n\r\n';

const checks = {
  async runs() {
    const result = await jar.run(
      "import sys, os, helper; print(helper.x, sys.argv[1:], os.environ['A'], sys.stdin.buffer.read());" +
      "open('out.bin', 'wb').write(b'\\xff')",
      { language: "python", files: { "helper.py": "x = 1", b: Uint8Array.of(0xfe) }, args: ["one"], env: { A: "b" },
        stdin: Uint8Array.of(0xff, 0), outputs: ["out.bin"], metadata: { k: [1] }, timeout: 9 });
    assert.equal(result.stdout, "1 ['one'] b b'\\xff\\x00'\n");
    assert.deepEqual([result.verdict, result.metadata, result.limits.wall_ms], ["ok", { k: [1] }, 9000]);
    const run = jar.runs.get(result.id);
    assert.deepEqual([...(await run.file("out.bin"))], [0xff]);
    assert.equal((await run.files())[0].name, "out.bin");
    assert.equal(text(await run.stdout()), result.stdout);
    assert.equal((await run.request()).language, "python");
    assert.equal((await run.debugReport()).report.status, "success");
    assert.equal((await jar.run("while True: pass", { language: "python", timeout: 0.2 })).verdict, "timeout");
  },

  async failures() {
    const code = "def f(x):\n    return 1 / x\nf(0)\n";
    const result = await jar.run(code, { language: "python" });
    assert.equal(result.diagnosis.location.line, 2);
    await assert.rejects(jar.run(code, { language: "python", check: true }), (error) => {
      assert(error instanceof belljar.ProgramFailed && error instanceof belljar.BelljarError);
      for (const word of ["ZeroDivisionError", "line 2", "return 1 / x", "test it before dividing"])
        assert(error.message.includes(word), error.message);
      return error.result.exit_code === 1 && explain(error.result) === error.message;
    });
  },

  async streams() {
    const stream = jar.stream("print(1); print(2)", { language: "python" });
    assert.equal(await collect(stream), "1\n2\n");
    assert.equal(stream.result.verdict, "ok");
    const exact = jar.stream("printf '\\377'", { language: "bash" });
    for await (const event of exact) if (event.event === "stdout") assert.deepEqual([...bytesOf(event)], [0xff]);
    const run = jar.stream("for line in iter(input, 'end'): print(line * 2, flush=True)", { language: "python", stdin_open: true });
    let heard = "";
    for (const word of ["ab", "cd"]) {
      await run.write(`${word}\n`);
      while (!heard.endsWith(`${word}${word}\n`)) heard += textOf(await run.next());
    }
    await run.write(bytes("end\n"), { eof: true });
    heard += await collect(run);
    assert.equal(heard, "abab\ncdcd\n");
    const started = await jar.start("for i in range(3): print(i)", { language: "python" });
    assert.equal((await started.result()).stdout, "0\n1\n2\n");
    assert.equal(await started.cancel(), false);
  },

  async cancels() {
    const left = jar.stream(NAP, { language: "python", timeout: 60 });
    for await (const event of left) if (textOf(event)) break;
    assert(await eventually(async () => (await verdictOf(left.id)) === "cancelled"));
    const cancelled = jar.stream(NAP, { language: "python", timeout: 60 });
    assert.equal(await cancelled.cancel(), true);
    await collect(cancelled);
    assert.equal(cancelled.result.verdict, "cancelled");
    const abort = new AbortController();
    const waiting = jar.run(NAP, { language: "python", timeout: 60, thread_id: "aborted", signal: abort.signal });
    let row;
    await eventually(async () => {
      for await (row of jar.runs.list({ session: "aborted" })) return row.state === "running";
    });
    abort.abort();
    await assert.rejects(waiting, { name: "AbortError" });
    assert(await eventually(async () => (await verdictOf(row.id)) === "cancelled"));
    await assert.rejects(jar.run("1", { language: "python", signal: AbortSignal.abort() }), { name: "AbortError" });
    await assert.rejects(collect(jar.stream(NAP, { language: "python", signal: AbortSignal.timeout(300) })), { name: "TimeoutError" });
    for (let i = 0; i < 5; i++) {
      const race = jar.stream("true", { language: "bash" });
      await race.cancel();
      await collect(race);
      assert(["ok", "cancelled"].includes(race.result.verdict));
    }
  },

  async many() {
    const batch = await jar.batch({
      run: { language: "python", code: "print(int(input()) + 1)" },
      inputs: [{ stdin: "1", expected: "2" }, { stdin: bytes("2"), expected: "0" }],
    });
    assert.deepEqual(batch.results.map((r) => r.passed), [true, false]);
    assert((await jar.batchRuns(batch.id)).finished);
    const events = [];
    for await (const event of jar.streamBatch({ runs: [0, 1].map((i) => ({ language: "bash", code: `echo ${i}` })) })) events.push(event.event);
    assert.deepEqual(events, ["result", "result", "done"]);
    const variants = [{ language: "python", code: "print(1)" }, { language: "bash", code: "echo 1" }];
    assert.equal((await jar.compare({ variants })).variants.length, 2);
    const rows = new Set();
    for await (const row of jar.runs.list({ limit: 2 })) if (rows.add(row.id).size === 5) break;
    assert.equal(rows.size, 5);
    const failure = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nNameError: name 'x' is not defined\n";
    assert.equal((await jar.diagnose(failure, { language: "python" })).type, "NameError");
    assert.equal(await jar.diagnose("fine"), null);
    assert((await jar.languages()).some((l) => l.name === "python" && l.installed));
    assert.equal((await jar.health()).status, "ok");
    assert((await jar.stats()).runs > 0);
  },

  async sessions() {
    const session = await jar.session("python", { name: "n", files: { "a/b.txt": "text" } });
    await session.run("x = 20");
    assert.equal((await session.run("x + 22")).result["text/plain"], "42");
    const cell = await session.run("from IPython.display import display, Image\nimport base64\n" +
      "display(Image(base64.b64decode('iVBORw0KGgo='), format='png'))");
    assert.deepEqual([...imagesOf(cell)[0]], [137, 80, 78, 71, 13, 10, 26, 10]);
    await assert.rejects(session.run("nothing", { check: true }), /NameError/);
    let heard = "";
    const asks = session.stream("print('hi ' + input('name? '))");
    for await (const event of asks) {
      if (event.event === "input_request") await asks.reply("Ada");
      heard += textOf(event);
    }
    assert.equal(heard, "hi Ada\n");
    const naps = session.stream("import time; print('go', flush=True); time.sleep(60)");
    for await (const event of naps) if (textOf(event)) await naps.interrupt();
    assert.equal(naps.result.status, "interrupted");
    const accepted = await session.start("y = 1; print(y)");
    assert.equal(await collect(session.events(accepted.cell)), "1\n");
    assert((await session.complete("x.bit")).matches.some((m) => m.text === "x.bit_count"));
    assert((await session.inspect("len")).found);
    assert((await session.variables()).some((v) => v.name === "y"));
    assert.equal(text(await session.read("a/b.txt")), "text");
    await session.write("c d/é.bin", Uint8Array.of(0, 255));
    assert.deepEqual([...(await session.read("c d/é.bin"))], [0, 255]);
    await session.remove("c d/é.bin");
    await assert.rejects(session.read("c d/é.bin"), belljar.NotFound);
    assert((await session.files()).some((f) => f.path === "a/b.txt"));
    assert.equal((await session.update({ name: "m" })).name, "m");
    assert((await session.refresh()).memory_bytes > 0);
    assert.equal((await jar.sessions.list({ name: "m" }))[0].id, session.id);
    assert.equal((await session.notebook()).cells.length, (await session.cells()).length);
    const life = session.life();
    assert.equal((await life.next()).state, "idle");
    await session.end();
    await session.end();
    let last;
    for await (const event of life) last = event.event;
    assert.equal(last, "ended");
    await assert.rejects(session.run("x"), (e) => e instanceof belljar.SessionEnded && /ended at/.test(e.message));
  },

  async travel() {
    const session = await jar.session("bash", { undo: 3 });
    const x = async (s) => (await s.run("echo $x")).stdout.trim();
    await session.run("x=1");
    await session.checkpoint("one");
    await session.run("x=2");
    const [copy] = await session.fork(1, { names: ["copy"] });
    const [old] = await session.fork(1, { from: "one" });
    assert.deepEqual([await x(copy), await x(old)], ["2", "1"]);
    await Promise.all([copy.end(), old.end()]);
    await session.undo();
    assert.equal(await x(session), "1");
    await session.run("x=5");
    await session.rollback("one");
    assert.equal(await x(session), "1");
    assert((await session.branches(["false", "x=7"], { keep: "first_ok" })).adopted);
    assert.equal(await x(session), "7");
    const events = [];
    for await (const event of session.streamBranches(["x=8"], { keep: "none" })) events.push(event.event);
    assert.deepEqual([events[0], events.at(-1)], ["forked", "done"]);
    assert.deepEqual((await session.sleep()).not_carried, []);
    await session.wake();
    const loaded = await jar.sessions.load(await session.image());
    assert.equal(await x(loaded), "7");
    await loaded.end();
    assert((await session.tree()).sessions.length >= 3);
    assert((await session.checkpoints()).some((c) => c.name === "one"));
    await session.deleteCheckpoint("one");
    await session.restart();
    assert.equal(await x(session), "");
    await session.end();
  },

  async lists() {
    await jar.templates.create("tstate", "x=3", { language: "bash" });
    assert.equal((await jar.run("echo $x", { template: "tstate" })).stdout, "3\n");
    assert((await jar.templates.list()).some((t) => t.name === "tstate"));
    await jar.templates.delete("tstate");
    const run = await jar.start("echo approved", { language: "bash", permission_mode: "default", thread_id: "t2" });
    for await (const pending of jar.approvals.list({ decision: "pending", thread_id: "t2" })) {
      assert.equal(pending.id, run.approval.id);
      await jar.approvals.decide(pending.id, "approve");
      await assert.rejects(jar.approvals.decide(pending.id, "reject"), belljar.Conflict);
    }
    assert.equal((await run.result()).stdout, "approved\n");
    const rule = await jar.rules.add("deny", { match: "contains", text: "forbidden-ts" });
    assert.equal((await jar.run("echo forbidden-ts", { language: "bash" })).verdict, "rejected");
    await jar.rules.delete(rule.id);
    const made = await jar.artifacts.create({ content: "print(1)", title: "one", language: "python" });
    await jar.artifacts.update(made.id, { content: "print(2)" });
    assert.equal((await jar.artifacts.execute(made.id)).execution.output.trim(), "2");
    assert.equal(await jar.artifacts.download(made.id), "print(2)");
    assert.equal((await jar.artifacts.versions(made.id)).length, 2);
    await jar.artifacts.delete(made.id);
    await assert.rejects(jar.artifacts.get(made.id), belljar.NotFound);
    const key = await jar.keys.add("typescript", ["run"]);
    const known = new Belljar({ key: key.key });
    await assert.rejects(known.keys.list(), belljar.Forbidden);
    await assert.rejects(new Belljar({ key: "blj_wrong" }).stats(), belljar.Unauthorized);
    await jar.keys.remove("typescript");
    await assert.rejects(jar.run("1", { language: "python", network: { allow: ["example.com:443"] } }), belljar.Forbidden);
  },

  async refusals() {
    await assert.rejects(jar.run("1", { language: "pithon" }), (e) =>
      e instanceof belljar.BadRequest && e.status === 400 && e.code === "bad_request" && e.field === "language" && /did you mean 'python'/.test(e.message));
    await assert.rejects(jar.run("1", { language: "python", stdim: "x" }), /did you mean 'stdin'/);
    await assert.rejects(jar.sessions.get("ses_0"), belljar.NotFound);
    const session = await jar.session("bash");
    await assert.rejects(session.write("large", new Uint8Array(17 << 20)), belljar.TooLarge);
    await assert.rejects(jar.run("1", { language: "python", stdin: "x".repeat(40 << 20) }), belljar.TooLarge);
    const same = await new Belljar().sessions.get(session.id);
    const counts = await Promise.all([session, same, session, same].map(async (s) => (await s.run("echo $((++n))")).stdout));
    assert.deepEqual(counts.sort(), ["1\n", "2\n", "3\n", "4\n"]);
    const naps = session.stream("echo go; sleep 60");
    for await (const event of naps) {
      if (!textOf(event)) continue;
      await assert.rejects(same.fork(), belljar.Conflict);
      await same.end();
    }
    assert.equal(naps.result.status, "lost");
    for (const wrong of ["ftp://x", "127.0.0.1:6000", "unix:relative.sock"])
      assert.throws(() => new Belljar({ url: wrong }), /unix:\/path\/belljar.sock/);
  },

  async goneAway() {
    await assert.rejects(new Belljar({ url: "http://127.0.0.1:1", retries: 0 }).health(), belljar.ConnectionFailed);
    await assert.rejects(new Belljar({ url: "unix:/nonexistent/belljar.sock", retries: 0 }).health(), belljar.ConnectionFailed);
    await fake([STREAM], (url) => assert.rejects(collect(new Belljar({ url }).stream("1", { language: "python" })), belljar.ConnectionLost));
    await fake([WAIT], (url) => assert.rejects(new Belljar({ url, timeout: 200 }).health(), (e) => e instanceof belljar.TimedOut && /0.2 s/.test(e.message)));
    await fake([WAIT], (url) => assert.rejects(new BrowserBelljar({ url, timeout: 200 }).health(), belljar.TimedOut));
    for (const line of ["x".repeat(35), JSON.stringify("y".repeat(33)), JSON.stringify({ evnt: "queued", s: "1234567890123" })])
      await fake([STREAM.replace(/\{"event":"queued.*\}/, line.slice(0, 35))], (url) =>
        assert.rejects(collect(new Belljar({ url }).stream("1")), belljar.ProtocolError));
    for (const strange of ["SSH-2.0-OpenSSH\r\n\r\n", answer(200, "<html>"), answer(404, "<html>"),
      answer(200).replace("application/json", "text/html")])
      await fake([strange], (url) => assert.rejects(new Belljar({ url, retries: 0 }).health(), belljar.ProtocolError));
  },

  async retries() {
    const good = answer(200, '{"status": "ok", "verdict": "ok"}');
    await fake(["", good], async (url, requests) => {
      assert.equal((await new Belljar({ url }).health()).status, "ok");
      assert.equal(requests.length, 2);
    });
    await fake(["", good], async (url, requests) => {
      await assert.rejects(new Belljar({ url }).run("1", { language: "python" }), belljar.ConnectionLost);
      assert.equal(requests.length, 1);
    });
    await fake([answer(503, ERROR, ["Retry-After: 0"]), good], async (url, requests) => {
      await new Belljar({ url }).run("1", { language: "python" });
      assert.equal(requests.length, 2);
    });
    await fake([answer(503, ERROR)], (url) => assert.rejects(new Belljar({ url }).run("1", { language: "python" }), belljar.Busy));
    await fake(["", answer(404, ERROR)], async (url, requests) => {
      await new Belljar({ url }).templates.delete("x");
      assert.equal(requests.length, 2);
    });
    await fake(["", good], async (url, requests) => {
      await assert.rejects(new Belljar({ url }).artifacts.update("a", { content: "x" }), belljar.ConnectionLost);
      assert.equal(requests.length, 1);
    });
    await fake([STREAM, STREAM.replace('"queued","seq":0', '"stdout","seq":7')], async (url, requests) => {
      const events = new Belljar({ url, retries: 1 }).runs.get("r").events();
      assert.deepEqual([(await events.next()).event, (await events.next()).seq], ["queued", 7]);
      await assert.rejects(events.next(), belljar.BelljarError);
      const after = requests.map((request) => /after=(\d+) /.exec(request)[1]);
      assert.deepEqual(after.slice(0, 3), ["0", "0", "7"]);
    });
  },

  async sockets() {
    const local = new Belljar({ url: `unix:${process.env.BELLJAR_SOCKET}` });
    assert.equal((await local.run("print(1)", { language: "python" })).stdout, "1\n");
    local.close();
    const browser = new BrowserBelljar();
    assert.equal((await browser.run("print(2)", { language: "python" })).stdout, "2\n");
    assert.equal(await collect(browser.stream("print(3)", { language: "python" })), "3\n");
    await assert.rejects(new BrowserBelljar({ url: "http://127.0.0.1:1", retries: 0 }).run("1"), belljar.BelljarError);
  },

  async streamsAtOnce() {
    const count = Number(process.env.STREAMS ?? 100);
    const each = (make) => Promise.all(Array.from({ length: count }, (_, i) => make(i)));
    const heard = await each((i) => collect(jar.stream(`echo ${i}`, { language: "bash" })));
    assert.deepEqual(heard, Array.from({ length: count }, (_, i) => `${i}\n`));
    // All of them are open at the same time: the run goes on when each one has heard its first line.
    const run = await jar.start("echo first; read line; echo $line", { language: "bash", stdin_open: true, timeout: 60 });
    let first = 0;
    const followers = await each(async () => {
      let output = "";
      for await (const event of run.events()) {
        if (!output && textOf(event) && ++first === count) await run.write("last\n", { eof: true });
        output += textOf(event);
      }
      return output;
    });
    assert.deepEqual(new Set(followers), new Set(["first\nlast\n"]));
  },

  async overhead() {
    const cost = async () => {
      await jar.health();
      const start = process.cpuUsage();
      for (let i = 0; i < 300; i++) await jar.health();
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 300 / 1000;
    };
    const best = Math.min(await cost(), await cost(), await cost());
    assert(best < 0.3 * Number(process.env.PATIENCE ?? 1), `${best} ms of processor time a call`);
  },
};

for (const [name, check] of Object.entries(checks)) {
  let error = null;
  const start = Date.now();
  try {
    await check();
  } catch (e) {
    error = e.stack ?? String(e);
  }
  console.log(JSON.stringify({ name, error, ms: Date.now() - start }));
}
jar.close();
