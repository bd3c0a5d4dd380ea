"""TypeScript: one module at a time, types unread unless asked for; lines and columns are those of the program."""

import pytest

from corpus import wait_up
from harness import belljar, public_dir
from service import ROOMY, Service


def ts(code, *options, args=(), files=None, name="main.ts", stdin=None):
    folder = public_dir()
    extra = []
    for other, text in (files or {}).items():
        (folder / other.replace("/", "_")).write_text(text)
        extra += ["--file", f"{folder / other.replace('/', '_')}:{other}"]
    (folder / name).write_text(code)
    return belljar("run", "--local", "--json", *options, *extra, folder / name, *(["--", *args] if args else []), stdin=stdin).json


def test_types_are_gone_and_the_rest_runs():
    r = ts("""interface P { x: number; y?: string }
enum Color { Red, Green = 5, Blue }
abstract class Shape { constructor(protected readonly name: string) {} abstract area(): number }
class Square extends Shape { constructor(private side: number) { super('square'); } area(): number { return this.side ** 2; } }
const f = <T extends P>(a: T, ...rest: number[]): number => a.x + rest.length;
console.log(f({ x: 1 } as P, 2, 3), Color.Blue, Color[5], new Square(3).area(), new Square(1));
""")
    assert (r["stdout"], r["verdict"]) == ("3 6 Green 9 Square { name: 'square', side: 1 }\n", "ok"), r


def test_an_error_is_at_the_line_and_column_of_the_program():
    r = ts("interface A { a?: { b: number } }\nfunction deep(x: A): number {\n  return (x.a as { b: number }).b;\n}\ndeep({} as A);\n")
    assert r["exit_code"] == 1 and r["verdict"] == "runtime_error"
    assert r["stderr"].startswith("/sandbox/main.ts:3\n  return (x.a as { b: number }).b;\n" + " " * 32 + "^\n"), r["stderr"]
    assert "at deep (/sandbox/main.ts:3:33)" in r["stderr"] and "(/sandbox/main.ts:5:1)" in r["stderr"]
    assert "register.js" not in r["stderr"] and "belljar" not in r["stderr"]


@pytest.mark.parametrize("code, line", [
    ("namespace N { export function f(): void { throw new Error('x'); } }\n\nN.f();\n", "main.ts:1:49"),
    ("enum E { A = 1 << 3 }\nclass P {\n  constructor(private a: number) { console.log(a);\n    throw new Error('x'); }\n}\nnew P(E.A);\n", "main.ts:4:11"),
    ("import { g } from './g';\nfunction f(x: number): void {\n  g(x); throw new Error('x');\n}\nf(1);\n", "main.ts:3:15"),
])
def test_lines_are_exact_where_code_is_rewritten(code, line):
    r = ts(code, files={"g.ts": "export const g = (x: number): number => x;\n"})
    assert line in r["stderr"], r["stderr"]


def test_a_syntax_error_is_told_as_the_compiler_words_it():
    r = ts("const a: number = 1;\nconst x: = 5;\n")
    assert r["exit_code"] == 1 and r["stdout"] == ""
    assert r["stderr"] == "main.ts(2,10): error TS1110: Type expected.\nconst x: = 5;\n         ~\n"


def test_modules_of_every_kind_are_found():
    files = {"lib.ts": "export let n: number = 0;\nexport function inc(): void { n++; }\n", "data.json": '{"a": 1}',
             "old.js": "module.exports = { old: true };\n", "dir/deep.ts": "export default class Deep { x: number = 1 }\n"}
    r = ts("import { n, inc } from './lib';\nimport * as again from './lib.js';\nimport data from './data.json';\nimport old from './old.js';\n"
           "import Deep from './dir/deep';\nimport { type Stats, existsSync } from 'node:fs';\nlet s: Stats;\ninc(); inc();\n"
           "console.log(n, again.n, data.a, old.old, new Deep(), existsSync('/sandbox/main.ts'), require.main === module, __dirname);\n", files=files)
    assert r["stdout"] == "2 2 1 true Deep { x: 1 } true true /sandbox\n", r


def test_await_at_the_top_and_arguments():
    r = ts("const x: number = await Promise.resolve(1);\nconsole.log(x, process.argv);\n", args=["a", "b c"])
    assert r["stdout"] == "1 [ '/usr/bin/node', '/sandbox/main.ts', 'a', 'b c' ]\n", r


def test_errors_of_types_are_ignored_unless_asked_for():
    code = "const n: number = 'text';\nconsole.log(n);\nfunction f(a: string) { return a; }\nf(1);\n"
    r = ts(code)
    assert (r["stdout"], r["verdict"]) == ("text\n", "ok")
    r = ts(code, "--check-types")
    assert r["verdict"] == "compile_error" and r["exit_code"] == 1 and r["stdout"] == "", r
    assert r["stderr"].splitlines() == ["main.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.",
                                        "main.ts(4,3): error TS2345: Argument of type 'number' is not assignable to parameter of type 'string'."]


def test_a_program_whose_types_are_right_runs():
    r = ts("import { readFileSync } from 'fs';\nimport { g } from './g.js';\nconst lines: string[] = readFileSync(0, 'utf8').split('\\n');\n"
           "console.log(lines.length + g(1), process.argv.length, await Promise.resolve(1));\n", "--check-types",
           files={"g.ts": "export const g = (x: number): number => x;\n"}, stdin=b"a\nb\n")
    assert (r["stdout"], r["verdict"]) == ("4 2 1\n", "ok"), r


def test_strictness_is_the_projects_own():
    code = "function f(a) { return a; }\nconsole.log(f(1));\n"
    assert "TS7006" in ts(code, "--check-types")["stderr"]
    r = ts(code, "--check-types", files={"tsconfig.json": '{"compilerOptions": {"strict": false}}'})
    assert (r["stdout"], r["verdict"]) == ("1\n", "ok"), r


def test_it_starts_warm_in_a_service():
    with Service(*ROOMY, "--set", "pools.preload=typescript") as s:
        wait_up(s, ("typescript",))
        r = s.run(code="const x: string = 'warm';\nconsole.log(x);\n", language="ts")
        assert (r["stdout"], r["language"]) == ("warm\n", "typescript") and r["start"] in ("warm", "hatched"), r
        r = s.run(code="const x: number = 'no';\n", language="typescript", check_types=True)
        assert r["verdict"] == "compile_error" and "main.ts(1,7): error TS2322" in r["stderr"], r
