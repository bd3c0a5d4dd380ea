"""TypeScript: one module at a time, types unread unless asked for; lines and columns are those of the program."""

from functools import cache

import pytest

from corpus import wait_up
from harness import ROOT, belljar, public_dir
from service import ROOMY, Service


def ts(code, *options, args=(), files=None, name="main.ts", stdin=None):
    folder = public_dir()
    extra = []
    for other, text in (files or {}).items():
        (folder / other.replace("/", "_")).write_text(text)
        extra += ["--file", f"{folder / other.replace('/', '_')}:{other}"]
    (folder / name).write_text(code)
    return belljar("run", "--local", "--json", *options, *extra, folder / name, *(["--", *args] if args else []),
                   stdin=stdin).json


def test_types_are_gone_and_the_rest_runs():
    r = ts("""interface P { x: number; y?: string }
enum Color { Red, Green = 5, Blue }
abstract class Shape { constructor(protected readonly name: string) {} abstract area(): number }
class Square extends Shape {
  constructor(private side: number) { super('square'); }
  area(): number { return this.side ** 2; }
}
const f = <T extends P>(a: T, ...rest: number[]): number => a.x + rest.length;
console.log(f({ x: 1 } as P, 2, 3), Color.Blue, Color[5], new Square(3).area(), new Square(1));
""")
    assert (r["stdout"], r["verdict"]) == ("3 6 Green 9 Square { name: 'square', side: 1 }\n", "ok"), r


def test_an_error_is_at_the_line_and_column_of_the_program():
    r = ts("""\
interface A { a?: { b: number } }
function deep(x: A): number {
  return (x.a as { b: number }).b;
}
deep({} as A);
""")
    assert r["exit_code"] == 1 and r["verdict"] == "runtime_error"
    assert r["stderr"].startswith("""\
/sandbox/main.ts:3
  return (x.a as { b: number }).b;
""" + " " * 32 + "^\n"), r["stderr"]
    assert "at deep (/sandbox/main.ts:3:33)" in r["stderr"] and "(/sandbox/main.ts:5:1)" in r["stderr"]
    assert "register.js" not in r["stderr"] and "belljar" not in r["stderr"]


@pytest.mark.parametrize("code, line", [
    ("namespace N { export function f(): void { throw new Error('x'); } }\n\nN.f();\n", "main.ts:1:49"),
    ("""\
enum E { A = 1 << 3 }
class P {
  constructor(private a: number) { console.log(a);
    throw new Error('x'); }
}
new P(E.A);
""", "main.ts:4:11"),
    ("""\
import { g } from './g';
function f(x: number): void {
  g(x); throw new Error('x');
}
f(1);
""", "main.ts:3:15"),
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
             "old.js": "module.exports = { old: true };\n",
             "dir/deep.ts": "export default class Deep { x: number = 1 }\n"}
    r = ts("""\
import { n, inc } from './lib';
import * as again from './lib.js';
import data from './data.json';
import old from './old.js';
import Deep from './dir/deep';
import { type Stats, existsSync } from 'node:fs';
let s: Stats;
inc(); inc();
console.log(n, again.n, data.a, old.old, new Deep(), existsSync('/sandbox/main.ts'), require.main === module,
            __dirname);
""", files=files)
    assert r["stdout"] == "2 2 1 true Deep { x: 1 } true true /sandbox\n", r


def test_await_at_the_top_and_arguments():
    r = ts("const x: number = await Promise.resolve(1);\nconsole.log(x, process.argv);\n", args=["a", "b c"])
    assert r["stdout"] == "1 [ '/usr/bin/node', '/sandbox/main.ts', 'a', 'b c' ]\n", r


@pytest.mark.release_only  # about the compiler alone
def test_errors_of_types_are_ignored_unless_asked_for():
    code = "const n: number = 'text';\nconsole.log(n);\nfunction f(a: string) { return a; }\nf(1);\n"
    r = ts(code)
    assert (r["stdout"], r["verdict"]) == ("text\n", "ok")
    r = ts(code, "--check-types")
    assert r["verdict"] == "compile_error" and r["exit_code"] == 1 and r["stdout"] == "", r
    assert r["stderr"].splitlines() == ["main.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.",
                                        "main.ts(4,3): error TS2345: Argument of type 'number' is not assignable to "
                                        "parameter of type 'string'."]


def test_a_program_whose_types_are_right_runs():
    r = ts("""\
import { readFileSync } from 'fs';
import { g } from './g.js';
const lines: string[] = readFileSync(0, 'utf8').split('\\n');
console.log(lines.length + g(1), process.argv.length, await Promise.resolve(1));
""", "--check-types",
           files={"g.ts": "export const g = (x: number): number => x;\n"}, stdin=b"a\nb\n")
    assert (r["stdout"], r["verdict"]) == ("4 2 1\n", "ok"), r


@pytest.mark.release_only  # about the compiler alone
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


NEWER = [
    ("4.9", "`satisfies`", "const p = { x: 1 } satisfies { x: number };\nconsole.log(p.x);\n", "1\n"),
    ("4.9", "`satisfies`", "const p = [1,\n 2] as const satisfies readonly number[];\nconsole.log(p[1]);\n", "2\n"),
    ("4.9", "an `accessor` field", "class A {\n  static accessor n: number = 1;\n}\nconsole.log(A.n);\n", "1\n"),
    ("5.0", "a `const` type parameter", """\
function f<A, const T>(a: A, t: T): T { return t; }
console.log(f(1, 2));
""", "2\n"),
    ("5.2", "`using`", "{\n  using r = { [Symbol.dispose]() { console.log('freed'); } };\n}\n", "freed\n"),
    ("5.3", "`with` after an import", "import d from './d.json' with { type: 'json' };\nconsole.log(d.a);\n", "3\n"),
]


@cache
def here():
    return compiler()


def compiler(prefix=()):
    """Which there is."""
    rows = belljar("languages", "--json", prefix=prefix).json
    return tuple(int(n) for n in next(r for r in rows if r["name"] == "typescript")["version"].split("."))


@pytest.mark.parametrize("check", [(), ("--check-types",)], ids=["run", "checked"])
@pytest.mark.parametrize("since, what, code, out", NEWER)
def test_what_a_newer_compiler_knows_runs_or_is_named(since, what, code, out, check):
    """Debian's compiler is of 2022. Its message about such code, that a comma is missing, helps nobody."""
    r = ts(code, *check, files={"d.json": '{"a": 3}'})
    if here() >= tuple(int(n) for n in since.split(".")):
        assert (r["stdout"], r["verdict"]) == (out, "ok"), r
        return
    assert r["exit_code"] == 1 and f"note: {what} needs TypeScript {since}, and this machine has 4." in r["stderr"], r
    suggestion = r["diagnosis"]["suggestions"]
    assert len(suggestion) == 1, r["diagnosis"]
    assert f"{what} needs TypeScript {since}, and the compiler here is 4." in suggestion[0]["text"]


@pytest.mark.parametrize("code", ["""\
const satisfies = 1;
const x: = 5;
""", "class A { accessor(n: number) { return n; }\n", "const using = 1, y = ;\n",
                                  "let a = [1, 2;\n"])
def test_an_error_that_is_no_compilers_age_is_not_put_on_it(code):
    assert "needs TypeScript" not in ts(code)["stderr"]


@pytest.mark.skipif(not ROOT, reason="another /usr/local/lib takes a mount")
def test_a_compiler_that_is_a_program_is_not_taken_for_one_to_use(public_path):
    """From version 7 on the package holds nothing that can be loaded: it is neither used nor told as the version."""
    package = public_path / "lib" / "node_modules" / "typescript"
    (package / "lib").mkdir(parents=True)
    (package / "package.json").write_text("""\
{
  "name": "typescript",
  "version": "7.0.2",
  "main": "./lib/version.cjs"
}
""")
    (package / "lib" / "version.cjs").write_text("exports.version = '7.0.2';\n")
    code = public_path / "main.ts"
    code.write_text("const x: number = 1;\nconsole.log(x);\n")
    there = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /usr/local/lib && exec "$@"', str(public_path / "lib")]
    assert belljar("run", "--local", "--json", code, prefix=there).stdout == "1\n"
    assert compiler(there) != (7, 0, 2)
