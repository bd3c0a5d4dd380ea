"""The session program of JavaScript and TypeScript, bare: no jar, and the test at the other end of its channel."""
import json
import os
import re
import subprocess
import tempfile

import pytest

from cells import groups
from channel import EXEC, Program, Shared
from harness import BELLJAR, REPO

GUEST = os.path.join(os.path.dirname(BELLJAR), "guest")
NODE = "/usr/bin/node"
REFERENCE = str(REPO / "tests" / "tools" / "node_repl.js")
pytestmark = pytest.mark.release_only  # nothing of ours that is built with sanitizers takes part
FAR = "await new Promise(() => {})"


def javascript(**how):
    return Program([NODE, "-r", f"{GUEST}/node/session.js", f"{GUEST}/node/session_begin.js"], **how)


def typescript(**how):
    return Program([NODE, "-r", f"{GUEST}/typescript/session.js", f"{GUEST}/node/session_begin.js"], **how)


@pytest.fixture(scope="module")
def programs():
    all_tests = Shared(javascript)
    yield all_tests
    all_tests.end()


@pytest.fixture
def js(programs):
    return programs.get()


def outcome(reply):
    error = reply.error
    return {"stdout": reply["stdout"], "stderr": reply["stderr"], "text": reply.text,
            "error": error and {"name": error["name"], "message": error["message"]}}


def without_async_ids(text):
    """Node's own REPL numbers promises, because it uses asynchronous hooks."""
    if not text or "async_id_symbol" not in text:
        return text
    text = re.sub(r",\s*\[Symbol\((?:trigger_)?async_id_symbol\)\]: \d+", "", text)
    return re.sub(r"\s+", " ", text)


def of_the_repl(cells):
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run([NODE, REFERENCE], input=json.dumps(cells), capture_output=True, text=True, cwd=home,
                              timeout=120)
    assert done.stdout, done.stderr
    return [{**result, "text": without_async_ids(result["text"])} for result in json.loads(done.stdout)]


@pytest.mark.parametrize("name, cells", groups("node.cells"), ids=lambda v: v if isinstance(v, str) else "")
def test_cells_mean_the_same_as_in_the_repl_of_node(name, cells):
    expected = of_the_repl(cells)
    with javascript() as program:
        for code, want in zip(cells, expected, strict=True):
            assert outcome(program.run(code)) == want, code


def test_the_differential_cells_are_many():
    assert sum(len(cells) for _, cells in groups("node.cells")) >= 200


@pytest.mark.parametrize("first, second, text", [
    ("const a = 1", "const a = 2; a", "2"),
    ("let b = 1", "let b = 'x'; b", "'x'"),
    ("class C {}", "class C { m() {} }; Object.getOwnPropertyNames(C.prototype)", "[ 'constructor', 'm' ]"),
    ("let e = await 1", "let e = await 2; e", "2"),
    ("function f() {}", "const f2 = 1; function f() { return 2 } f()", "2"),
])
def test_declarations_can_be_repeated(js, first, second, text):
    assert js.run(first)["status"] == "ok"
    assert js.run(second).text == text


@pytest.mark.parametrize("code, text", [
    ("import os1 from 'os'; os1.EOL", r"'\n'"),
    ("import {join as j1, sep} from 'node:path'; j1('a', 'b') + sep", "'a/b/'"),
    ("import * as ns1 from 'path'; typeof ns1.join", "'function'"),
    ("import def1, {basename} from 'path'; [typeof def1.join, basename('/a/b')]", "[ 'function', 'b' ]"),
    ("import def2, * as ns2 from 'path'; typeof def2.join + typeof ns2.join", "'functionfunction'"),
    ("import 'fs'\n1", "1"),
    ("import fs1 from 'fs'\nimport os2 from 'os'\ntypeof fs1.readFileSync + typeof os2.cpus", "'functionfunction'"),
    ("import {\n  resolve,\n  dirname\n} from 'path'\ndirname('/x/y')", "'/x'"),
    ("const lazy = () => import('path'); (await lazy()).sep", "'/'"),
    ("const text1 = \"import x from 'y'\"; text1", "\"import x from 'y'\""),
    ("const re1 = /import('x')/; re1.source", "\"import('x')\""),
    ("`${(await import('path')).sep} import('q')`", "\"/ import('q')\""),
    ("({import: 1}).import", "1"),
    ("// import a from 'b'\n2", "2"),
    ("export const exported = 4; exported", "4"),
    ("fs.writeFileSync('own.mjs', 'export const v = 3; export default 4')\n"
     "import d9, {v as v9} from './own.mjs'; [d9, v9]",
     "[ 4, 3 ]"),
    ("fs.writeFileSync('d.json', '[7]'); import data from './d.json' assert {type: 'json'}; data", "[ 7 ]"),
])
def test_imports_are_statements(js, code, text):
    reply = js.run(code)
    assert (reply["status"], reply.text) == ("ok", text), reply


def test_a_missing_module_is_an_error_of_the_import(js):
    reply = js.run("import x from 'no-such-package'")
    assert reply["status"] == "error" and "no-such-package" in reply.error["message"]


def test_a_stack_shows_the_cell_and_none_of_our_frames(js):
    reply = js.run("function outer() {\n  inner()\n}\nfunction inner() { throw new TypeError('deep') }\nouter()")
    assert (reply.error["name"], reply.error["message"]) == ("TypeError", "deep")
    trace = reply.error["traceback"]
    frames = r"    at inner \(cell-\d+:4:26\)\n    at outer \(cell-\d+:2:3\)\n    at cell-\d+:5:1"
    assert re.match(r"Uncaught TypeError: deep\n" + frames, trace), trace
    assert "session" not in trace and "inspector" not in trace
    later = js.run("await new Promise(r => setTimeout(r, 1)); (() => { throw new Error('later') })()")
    assert "session" not in later.error["traceback"], later.error["traceback"]


def test_a_syntax_error_has_its_line(js):
    reply = js.run("let fine = 1\nfoo bar")
    assert reply.error["name"] == "SyntaxError" and "foo bar" in reply.error["traceback"], reply.error


@pytest.mark.parametrize("code", ["throw undefined", "throw null", "throw Object.create(null)",
                                  "throw new Proxy({}, {get() { throw 1 }})",
                                  "throw Object.defineProperty(new Error('x'), 'message', {get() { throw 2 }})",
                                  "throw Object.defineProperty(new Error('x'), 'name', {value: 5})"])
def test_anything_can_be_thrown(js, code):
    assert js.run(code)["status"] == "error"
    assert js.run("1 + 1").text == "2"


@pytest.mark.parametrize("code", ["({[util.inspect.custom]() { throw new Error('hook') }})",
                                  "({get [Symbol.toStringTag]() { throw new Error('tag') }})",
                                  "({[Symbol.for('Jupyter.display')]() { throw 1 }})",
                                  "new Proxy({}, {ownKeys() { throw 1 }, get() { throw 2 }})"])
def test_a_hook_that_fails_does_not_end_the_session(js, code):
    assert js.run(code)["status"] in ("ok", "error")
    assert js.run("1 + 1").text == "2"


def test_unhandled_rejections_and_errors_of_timers_are_told_on_stderr(js):
    reply = js.run("Promise.reject(new RangeError('nobody')); setTimeout(() => { throw new Error('in a timer') }, 1);"
                   "await new Promise(r => setTimeout(r, 30)); 'alive'")
    assert reply["status"] == "ok" and reply.text == "'alive'"
    assert "Uncaught RangeError: nobody" in reply["stderr"] and "Uncaught Error: in a timer" in reply["stderr"]


def test_timers_run_between_cells(js):
    js.run("globalThis.ticks = 0; globalThis.timer = setInterval(() => ticks++, 1)")
    reply = js.run("await new Promise(r => { const t = setInterval(() => ticks > 2 && (clearInterval(t), r()), 1) });"
                   "ticks > 2")
    assert reply.text == "true"
    js.run("clearInterval(timer)")


def test_a_silent_cell_has_no_result_and_no_number(js):
    before = int(js.run("0")["count"])
    silent = js.run("40 + 2", flags="silent")
    assert silent["status"] == "ok" and silent["events"] == []
    assert int(js.run("0")["count"]) == before + 1


def test_display_sends_bundles_updates_and_clears(js):
    reply = js.run("const png = Buffer.from([137, 80]);"
                   "display({'text/html': '<b>x</b>', 'text/plain': 'x', 'image/png': png}, {id: 'one'});"
                   "display.update('one', {'application/json': {a: 1}}); display.clear({wait: true}); display({a: 1})")
    kinds = [kind for kind, _ in reply["events"]]
    assert kinds == ["display", "update_display", "clear", "display"]
    first, second, third, fourth = (fields for _, fields in reply["events"])
    assert first["bundle"] == {"text/html": "<b>x</b>", "text/plain": "x", "image/png": b"\x89P"}
    assert first["display_id"] == "one"
    assert second["bundle"] == {"application/json": '{"a":1}'} and "wait" in third
    assert fourth["bundle"] == {"text/plain": "{ a: 1 }"}


def test_a_value_may_say_how_it_is_shown(js):
    reply = js.run("({[Symbol.for('Jupyter.display')]() { return {'text/html': '<i>v</i>', 'image/png': 'iVA='} }})")
    bundle = reply.first("result")["bundle"]
    assert bundle["text/html"] == "<i>v</i>" and bundle["image/png"] == b"\x89P" and "text/plain" in bundle


def test_large_values_are_cut_and_large_cells_are_read_whole(js):
    reply = js.run("({[util.inspect.custom]() { return 'x'.repeat(5e6) }})")
    assert reply["status"] == "ok" and (1 << 20) <= len(reply.text) <= (1 << 20) + 100 and reply.text.endswith("cut")
    shown = js.run("display({'text/html': 'x'.repeat(5e6)})").first("display")
    assert shown["bundle"] == {"text/plain": "[the display was left out]"}
    assert "text/html of 5000000 bytes" in shown["cut"]
    code = "/*" + "y" * 300_000 + "*/ 'é'.length"
    assert js.run(code).text == "1"


def test_output_comes_before_the_end_of_its_cell(js):
    reply = js.run("for (let i = 0; i < 20000; i++) console.log('line', i)")
    assert reply["stdout"].count("\n") == 20000 and reply["stdout"].endswith("line 19999\n")


@pytest.mark.parametrize("code", [
    "console.log('go'); for (;;);",
    "console.log('go'); await 0; for (;;);",
    f"console.log('go'); {FAR}",
    f"setTimeout(() => {{ console.log('go'); for (;;); }}, 0); {FAR}",
    f"setImmediate(() => {{ console.log('go'); for (;;); }}); {FAR}",
    f"process.nextTick(() => {{ console.log('go'); for (;;); }}); {FAR}",
    "console.log('go'); try { for (;;); } catch { } finally { for (;;); }",
    "console.log('go'); child_process.execSync('sleep 1000')",
    "({[util.inspect.custom]() { console.log('go'); for (;;); }})",
    "console.log('go'); const storm = async () => { for (;;) await 0 }; await storm()",
    "console.log('go'); for (;;) console.error('busy')",
    "process.on('SIGINT', () => {}); console.log('go'); await new Promise((r) => setTimeout(r, 50));"
    "process.removeAllListeners('SIGINT')",
])
def test_an_interrupt_ends_the_cell_and_the_state_stays(js, code):
    js.run("var kept = {n: 42}")
    js.begin(EXEC, ("code", code))
    js.await_output("go")
    js.interrupt()
    reply = js.finish()
    if "SIGINT" in code:  # the program's own handler took it
        assert reply["status"] == "ok"
    else:
        assert (reply["status"], reply.error["name"]) == ("interrupted", "KeyboardInterrupt")
    assert js.run("await new Promise((r) => setTimeout(r, 1)); kept").text == "{ n: 42 }"
    assert js.run("console.log('still'); 1 + 1")["stdout"] == "still\n"


def test_an_interrupt_between_cells_does_nothing(js):
    js.run("1")
    for _ in range(5):
        js.interrupt()
    assert js.run("await new Promise((r) => setTimeout(r, 20)); 'calm'").text == "'calm'"


def test_process_exit_ends_the_session_with_a_word():
    with javascript() as program:
        reply = program.run("console.log('bye'); process.exit(3)")
        assert reply["status"] == "error" and reply["stdout"] == "bye\n"
        assert "process.exit(3)" in reply.first("note")["text"]
        assert program.process.wait(30) == 3


def test_the_session_ends_with_its_channel():
    with javascript() as program:
        program.channel.close()
        assert program.process.wait(30) == 0


def test_a_frame_of_an_unknown_type_ends_the_session():
    with javascript() as program:
        program.send(99, 1, [])
        assert program.process.wait(30) == 1


def test_descriptor_3_is_free_and_children_do_not_inherit_the_channel(js):
    reply = js.run("child_process.execSync('ls /proc/self/fd').toString()")
    assert reply.text == r"'0\n1\n2\n3\n'"  # 3 is the list itself


def test_a_program_that_breaks_builtins_breaks_only_itself():
    with javascript() as program:
        program.run("Array.prototype.push = () => { throw 1 }; Object.keys = null; JSON.stringify = 5;"
                    "console = null; Buffer = null")
        program.run("1 + 1")
        program.interrupt()  # alive, or ended: but it does not hang
        assert program.run("2")["status"] in ("ok", "error", "gone")


@pytest.mark.parametrize("code, expected", [
    ("Math.ma", ["max"]), ("'x'.toUpper", ["toUpperCase"]), ("mine.al", ["alpha"]),
    ("const q = mine.nested.be", ["beta"]),
    ("lexic", ["lexical"]), ("require('fs/pro", ["fs/promises"]), ("conso", ["console"]), ("nothing.like.this", []),
    ("mine.gett", ["getter"]),
])
def test_completion(js, code, expected):
    js.run("var mine = {alpha: 1, nested: {beta: 2}, get getter() { globalThis.touched = 1 }};"
           "const lexical = 1; globalThis.touched = 0")
    answer = js.complete(code)
    assert [m["text"] for m in answer["matches"]] == expected
    if expected:
        assert code[answer["from"]:answer["to"]] == re.search(r"[\w/]*$", code)[0]
    assert js.run("touched").text == "0"


def test_completion_counts_code_points_and_has_no_side_effects(js):
    answer = js.complete("'🎉é'; Mat + 1", cursor=9)
    assert (answer["from"], answer["to"]) == (6, 9) and "Math" in [m["text"] for m in answer["matches"]]
    js.run("var calls = 0; var sly = {get g() { calls++; return {} }}")
    js.complete("sly.g.x")
    assert js.run("calls").text == "0"


def test_inspection(js):
    js.run("function greet(name, greeting = 'hi') { return greeting + name }; var list = [1, 2]")
    found = js.inspect("greet(", 6)
    assert found["found"] and found["signature"] == "function greet(name, greeting = 'hi')" and "return" in found["doc"]
    assert js.inspect("list")["text"].startswith("list: Array\n[ 1, 2 ]")
    assert js.inspect("no_such_name") == {"found": False, "text": ""}
    assert js.inspect("calm()()()[") == {"found": False, "text": ""}


def test_variables():
    with javascript() as program:
        program.run("let n = 1; const s = 'text'; var arr = [1, 2, 3]; class K {}; const m = new Map([[1, 2]]);"
                    "g = null; function f() {}")
        program.run("let broken = (() => { throw 1 })()")
        rows = program.variables()
        assert {k: (v["type"], v.get("size")) for k, v in rows.items() if k != "broken"} == {
            "n": ("number", None), "s": ("string", 4), "arr": ("Array", 3), "K": ("class", None),
            "m": ("Map", 1), "g": ("null", None), "f": ("function", None)}
        assert rows["arr"]["preview"] == "[ 1, 2, 3 ]" and rows["s"]["preview"] == "'text'"


@pytest.mark.parametrize("code, text", [
    ("const n: number = 5; n", "5"),
    ("interface P { x: number }\nconst p: P = {x: 1}; p", "{ x: 1 }"),
    ("type U = 'a' | 'b'\nlet u: U = 'a'; u", "'a'"),
    ("function id<T>(v: T): T { return v } id<string>('t')", "'t'"),
    ("enum Color { Red, Green = 5 }\nColor.Green", "5"),
    ("enum Color { Red, Green = 5 }\nenum Color { Blue = 6 }\nColor[6] + Color[5]", "'BlueGreen'"),
    ("namespace NS { export const v = 3 }\nNS.v", "3"),
    ("class Q { constructor(private readonly z: number) {} get() { return this.z } }\nnew Q(4).get()", "4"),
    ("const n: string = 'again'; n", "'again'"),
    ("({a: 1} as any).a!", "1"),
    ("{a: 1, b: 2}", "{ a: 1, b: 2 }"),
    ("import type {Stats} from 'fs'; import {join, type ParsedPath} from 'path'; let st: Stats | null; join('a', 'b')",
     "'a/b'"),
    ("import util2 = require('util'); typeof util2.inspect", "'function'"),
    ("await Promise.resolve<number>(8)", "8"),
    ("const late: number = await new Promise<number>((r) => setTimeout(() => r(9), 1)); late", "9"),
    ("abstract class Sh { abstract area(): number }\nclass Sq extends Sh { area(): number { return 16 } }\n"
     "new Sq().area()", "16"),
    ("let tuple: [number, string] = [1, 'x']; tuple satisfies_ as any", None),
    ("declare const ghost: number; typeof ghost", "'undefined'"),
    ("let opt: {a?: {b: number}} = {}; opt.a?.b ?? 'none'", "'none'"),
    ("fs.writeFileSync('mod.ts', 'export const typed: number = 6'); require('./mod').typed", "6"),
])
def test_typescript_cells_lose_their_types(ts, code, text):
    reply = ts.run(code)
    if text is None:
        assert reply["status"] == "error" and reply.error["name"] == "SyntaxError", reply
    else:
        assert (reply["status"], reply.text) == ("ok", text), reply


@pytest.fixture(scope="module")
def ts():
    with typescript() as program:
        assert program.version.startswith("TypeScript")
        yield program


def test_a_typescript_error_is_in_the_words_of_the_compiler(ts):
    reply = ts.run("let x: number = ;")
    assert (reply.error["name"], reply.error["message"]) == ("SyntaxError", "Expression expected.")
    assert re.search(r"cell-\d+\.ts\(1,17\): error TS1109", reply.error["traceback"]), reply.error


def test_a_typescript_stack_has_the_lines_of_the_cell(ts):
    reply = ts.run("interface I { a: number }\n\nfunction bad(i: I): never {\n"
                   "  throw new Error('here')\n}\nbad({a: 1})")
    assert re.search(r"at bad \(cell-\d+:4:9\)", reply.error["traceback"]), reply.error["traceback"]
