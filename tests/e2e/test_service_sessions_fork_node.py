"""Forks of JavaScript and TypeScript sessions in jars: POST /v1/sessions/{id}/fork."""
import json

import pytest
import sessions
from harness import eventually
from service import Service
from sessions import copies_of, end_sessions, execute, fork, open_sessions, value

pytestmark = pytest.mark.release_only  # Node starts cold there: every session would take seconds


@pytest.fixture(scope="module")
def service():
    with Service("--set", "runs.max=8", "--set", "pools.preload=node-session", "--set", "sessions.max=12",
                 "--set", "runs.memory=8g") as s:
        yield s


def create(service, language="javascript", **fields):
    return sessions.create(service, language, **{"limits": {"memory": "600m"}, **fields})


@pytest.fixture(autouse=True)
def no_session_is_left(service):
    before = open_sessions(service)
    yield
    end_sessions(service, before)


STATE = """const fs = require('fs'), os = require('os');
let m = new Map([[1, 'x'], ['k', {deep: [1, 2]}]]), big = new Uint8Array(20 << 20).fill(1); big[5 << 20] = 5;
const counter = (() => { let n = 0; return () => ++n; })(); counter(); counter();
class Point { #x = 3; get x() { return this.#x; } }
const point = new Point(), squares = (function* () { for (let i = 0;; i++) yield i * i; })();
squares.next(); squares.next();
let settle; const later = new Promise((f) => { settle = f; }), chained = later.then((v) => v + '!');
fs.mkdirSync('sub'); process.chdir('sub'); process.umask(0o027); process.env.MINE = 'kept';
fs.writeFileSync('/sandbox/mod.js', 'let n = 40; exports.next = () => ++n;');
const mod = require('/sandbox/mod.js'); mod.next();
fs.writeFileSync('kept', 'hello world'); const fd = fs.openSync('kept', 'r+'); fs.readSync(fd, Buffer.alloc(6));
fs.writeFileSync('/tmp/other', 'of tmp'); fs.symlinkSync('kept', 'link'); fs.chmodSync('kept', 0o640);
const hot = (n) => { let s = 0; for (let i = 0; i < n; i++) s = (s + i * 7) % 1000003; return s; }; hot(3e6);
const wasm = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from('0061736d0100000001060160017f017f03020100' +
  '0503010001070e02046c6f61640000036d656d02000a09010700200028' + '02000b', 'hex'))).exports;
new Uint8Array(wasm.mem.buffer)[65532] = 77; 0"""
LOOK = """settle('done'); const text = Buffer.alloc(5); fs.readSync(fd, text);
JSON.stringify([m.get(1), m.get('k').deep, big[5 << 20], counter(), point.x, squares.next().value, await chained,
  mod.next(), process.cwd(), process.umask(), process.env.MINE, text.toString(), fs.readFileSync('/tmp/other', 'utf8'),
  fs.readlinkSync('link'), fs.statSync('kept').mode & 0o777, hot(1e5)])"""
SEEN = ["x", [1, 2], 5, 3, 3, 4, "done!", 42, "/sandbox/sub", 23, "kept", "world", "of tmp", "kept", 0o640]


def hot(n):
    s = 0
    for i in range(n):
        s = (s + i * 7) % 1000003
    return s


def shown(service, session, code):
    return json.loads(value(service, session, code)[1:-1])


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_a_fork_of_node_has_everything_and_shares_nothing(service, language):
    original = create(service, language, name="first", metadata={"a": 1}, idle_s=300)
    expected = [*SEEN, hot(100000)]
    value(service, original, STATE)
    if language == "typescript":
        value(service, original, "enum Colour { Red = 4 }; interface Named { name: string }\n"
                                 "const named: Named = {name: 'n'}; 0")
    made = fork(service, original, count=2, names=["second"])
    assert made["not_carried"] == [] and made["image_bytes"] > 20 << 20 and made["pause_ms"] > 0
    copies = [s["id"] for s in made["sessions"]]
    assert [s["name"] for s in made["sessions"]] == ["second", None]
    for session in (copies[0], original, copies[1]):
        assert shown(service, session, LOOK) == expected, session
    value(service, copies[0], "m.clear(); big[5 << 20] = 9; fs.writeFileSync('kept', 'changed')\n"
                              "fs.writeFileSync('/tmp/new', 'x'); 0")
    for session in (original, copies[1]):
        assert shown(service, session, "JSON.stringify([m.size, big[5 << 20], fs.readFileSync('kept', 'utf8'), "
                                       "fs.existsSync('/tmp/new')])") == [2, 5, "hello world", False]
    # Nothing in a copy depends on the original. New memory, new code, the collector, a child, a new worker.
    assert service.delete(f"/v1/sessions/{original}").status == 200
    copy = copies[1]
    assert value(service, copy, "Array.from({length: 3e5}, (_, i) => ({i, s: 'x' + i}))"
                                ".filter((o) => o.i % 2).length") == "150000"
    assert value(service, copy, "require('child_process').execSync('echo child').toString()") == "'child\\n'"
    assert value(service, copy, "await fs.promises.readFile('kept', 'utf8')") == "'hello world'"
    assert value(service, copy, "const wt = require('worker_threads'); const w = new wt.Worker("
                                "\"require('worker_threads').parentPort.postMessage(6 * 7)\", {eval: true});\n"
                                "await new Promise((f) => w.once('message', f))") == "42"
    # The stack grows as before, and ends with an error. So does the memory of a WebAssembly module.
    assert value(service, copy, "const deep = (n) => n && 1 + deep(n - 1); deep(7000)") == "7000"
    error = execute(service, copy, "const endless = () => 1 + endless(); endless()")["error"]
    assert error["name"] == "RangeError", error
    assert value(service, copy, "wasm.load(65532)") == "77"
    assert "out of bounds" in execute(service, copy, "wasm.load(65536)")["error"]["message"]
    if language == "typescript":
        assert value(service, copy, "const again: Named = {name: named.name + Colour.Red}; again.name") == "'n4'"
    assert service.post(f"/v1/sessions/{copy}/restart").status == 201
    assert execute(service, copy, "m")["error"]["name"] == "ReferenceError"


DRAW = """const c = require('crypto'), vm = require('vm'), other = vm.createContext({});
const draw = () => [Math.random(), vm.runInContext('Math.random()', other), c.randomUUID(), c.randomInt(2 ** 40),
  c.randomBytes(8).toString('hex'), globalThis.crypto.getRandomValues(new Uint32Array(2)).join(),
  c.webcrypto.randomUUID()];
draw(); 0"""


def test_random_sources_of_node_forks_differ(service):
    session = create(service)
    value(service, session, DRAW)
    drawn = [shown(service, session, "JSON.stringify(draw())")]
    for _ in range(4):  # 20 copies, five at a time
        copies = copies_of(service, session, count=5)
        drawn += [shown(service, copy, "JSON.stringify(draw())") for copy in copies]
        for copy in copies:
            assert value(service, copy, "process.pid === Number(fs.readlinkSync('/proc/self'))") == "true"
        for copy in copies:
            service.delete(f"/v1/sessions/{copy}")
    assert len(drawn) == 21
    for values in zip(*drawn):
        assert len(set(values)) == len(values), values


CELLS = ["const c = [...'hello'].reduce((m, x) => m.set(x, (m.get(x) || 0) + 1), new Map()); c",
         "function f(n) { return n * c.get('l'); } f(4)", "class A { static x = 1; } A.x += 1; A.x", "null.x",
         "const it = [1, 2, 3][Symbol.iterator](); it.next().value", "[it.next().value, f(2)]",
         "await new Promise((f) => setTimeout(f, 5, 'slept'))", "require('child_process').execSync('pwd').toString()",
         "[_, 1]", "const { log } = console; log('printed'); let big = new BigUint64Array(9).fill(7n); big"]


def outcome(cell):
    error = cell["error"] or {}
    return cell["status"], cell["result"], cell["stdout"], error.get("message"), error.get("traceback")


def test_cells_of_node_go_on_exactly_in_a_fork(service):
    """A fork of a fork of a fork: each cell runs in another copy, with the outcome of a session that is not forked."""
    plain, moving = create(service), create(service)
    for code in CELLS:
        expected = outcome(execute(service, plain, code))
        before, moving = moving, copies_of(service, moving)[0]
        assert service.delete(f"/v1/sessions/{before}").status == 200
        assert outcome(execute(service, moving, code)) == expected, code


def interrupted(service, session, code):
    began = service.post(f"/v1/sessions/{session}/exec", {"code": code, "wait": False})
    assert began.status == 202, began
    eventually(lambda: service.get(f"/v1/sessions/{session}").json["state"] == "busy")
    eventually(lambda: "on" in service.get(f"/v1/runs/{began.json['id']}").json.get("stdout", ""))
    service.post(f"/v1/sessions/{session}/interrupt")
    eventually(lambda: service.get(f"/v1/sessions/{session}").json["state"] == "idle")


@pytest.mark.parametrize("code", ["console.log('on'); for (;;) ;", "console.log('on'); await new Promise(() => {})"])
def test_a_fork_of_node_and_its_original_can_be_interrupted(service, code):
    original = create(service)
    value(service, original, "let kept = 1")
    copy = copies_of(service, original)[0]
    further = copies_of(service, copy)[0]
    for session in (further, original, copy):
        interrupted(service, session, code)
        assert value(service, session, "kept") == "1"


def test_timers_and_work_under_way_go_on_in_both(service):
    session = create(service)
    value(service, session, "const log = []; let n = 0; const every = setInterval(() => { n++; }, 5);\n"
                            "setTimeout(() => log.push('timer'), 400);\n"
                            "fs.promises.readFile('/etc/passwd').then((b) => log.push(b.length ? 'read' : '')); 0")
    copy = copies_of(service, session)[0]
    for one in (session, copy):
        assert value(service, one, "const before = n; await new Promise((f) => setTimeout(f, 500));\n"
                                   "n > before && log.sort().join()") == "'read,timer'"


def test_things_that_a_fork_of_node_cannot_carry_are_named_or_refused(service):
    session = create(service)
    value(service, session, "const p = require('child_process').spawn('sleep', ['100']);\n"
                            "const { Worker } = require('worker_threads');\n"
                            "const w = new Worker('setInterval(() => {}, 1000)', {eval: true});\n"
                            "const server = require('net').createServer().listen('/tmp/listening');\n"
                            "fs.writeFileSync('gone', 'x'); const gone = fs.openSync('gone'); fs.unlinkSync('gone');\n"
                            "await new Promise((f) => w.once('online', f)); 0")
    refused = service.post(f"/v1/sessions/{session}/fork", {"strict": True})
    assert refused.status == 409 and "a socket (descriptor " in refused.error["message"], refused
    made = fork(service, session)
    text = "; ".join(made["not_carried"])
    for name in ("a socket (descriptor ", "the file /sandbox/gone (deleted) (descriptor ", "a worker thread (1 of 1)",
                 " (sleep)", "the socket /tmp/listening"):
        assert name in text, text
    copy = made["sessions"][0]["id"]
    assert value(service, copy, "fs.readSync(gone, Buffer.alloc(1))") == "0"
    assert value(service, copy, "p.stdout.readableEnded || await new Promise((f) => p.stdout.on('end', f).resume());"
                                "'ended'") == "'ended'"
    # No event loop is kept busy by a dead end.
    assert value(service, copy, "const u = process.cpuUsage(); await new Promise((f) => setTimeout(f, 300)); "
                                "const d = process.cpuUsage(u); d.user + d.system < 200000") == "true"
    assert value(service, session, "p.exitCode === null && w.threadId > 0") == "true"
    assert service.delete(f"/v1/sessions/{copy}").status == 200
    strict = create(service)
    assert service.post(f"/v1/sessions/{strict}/fork", {"strict": True}).status == 201


def test_a_fork_while_node_is_at_work_is_exact(service):
    """The collector, the compiler and the pool of threads are at work while the memory is copied."""
    session = create(service, limits={"memory": "900m"})
    value(service, session, """const zlib = require('zlib'), data = Buffer.alloc(1 << 20, 'some text ');
let done = 0, kept = [];
const work = () => zlib.deflate(data, (e, out) => {
  done += out.length > 0 ? 1 : 0;
  kept = Array.from({length: 2e4}, (_, i) => ({i}));
  if (done < 3000) work();
});
work(); work(); work(); 0""")
    for _ in range(5):
        copy = copies_of(service, session)[0]
        for one in (copy, session):
            assert value(service, one, "const at = Math.min(done + 5, 3000);\n"
                                       "while (done < at) await new Promise((f) => setTimeout(f, 1));\n"
                                       "kept[19999].i") == "19999"
        service.delete(f"/v1/sessions/{copy}")

