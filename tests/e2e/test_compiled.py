"""Compiled languages on the command line: a jar for the compiler and one for the program (R1.8, R2.1, R2.4)."""

import os
import shutil
import signal
import time

import pytest

import compiled
import harness
from compiled import LANGUAGES, NAMES
from harness import Running, belljar, eventually, public_dir
from hostview import descendants, process


@pytest.fixture
def place():
    path = public_dir()
    yield path
    shutil.rmtree(path, ignore_errors=True)


def command(place, lang, code, *options, args=(), files=(), json=True):
    (place / NAMES[lang]).write_text(code)
    argv = ["run", "-l", lang, *(["--json"] if json else []), *options]
    for name, text in files:
        host = place / name.replace("/", "_")
        host.write_text(text)
        argv += ["--file", f"{host}:{name}"]
    return argv + [place / NAMES[lang], *(["--", *args] if args else [])]


def run(place, lang, code, *options, stdin=None, within=90, **how):
    return belljar(*command(place, lang, code, *options, **how), stdin=stdin, within=within)


def test_product_that_does_not_fit_into_the_run_meets_its_limit(place):
    """R1.4: as with a service, it is no failure of ours."""
    code = "char a[3000000] = { 1 };\nint main(void) { return a[0] - 1; }\n"
    r = run(place, "c", code, "--local", "--disk", "1m")
    assert (r.verdict, r.json["limits_hit"], r.json["compile"]["verdict"]) == ("disk_limit", ["disk"], "ok"), r
    assert r.json["stderr"] == "belljar: the files do not fit: 'program' is over the disk or files limit\n", r
    seen = run(place, "c", code, "--local", "--disk", "1m", json=False)
    assert seen.status == 1 and b"'program' is over the disk or files limit\n" in seen.err, seen
    assert b"disk_limit" in seen.err, seen


@pytest.mark.parametrize("lang", LANGUAGES)
def test_hello_prints_hello_and_nothing_else(place, lang):
    """R1.1: the messages of the compiler are not the output of the program."""
    result = run(place, lang, compiled.HELLO[lang], json=False)
    assert (result.status, result.out, result.err) == (0, b"hello, world\n", b""), result


@pytest.mark.parametrize("lang", LANGUAGES)
def test_arguments_stdin_and_exit_code_are_the_programs(place, lang):
    """R1.1, R1.3"""
    args = ["a", "", "two words", "q'\"q", "-x", "--json", "@f", "ü", "$HOME", "*"]
    assert run(place, lang, compiled.ARGS[lang], json=False, args=args).out.decode() == "|".join(args) + "\n"
    data = bytes(range(256)) * 1000
    assert run(place, lang, compiled.ECHO[lang], json=False, stdin=data).out == data
    result = run(place, lang, compiled.EXIT_7[lang])
    assert (result.status, result.json["exit_code"], result.verdict) == (7, 7, "runtime_error"), result


@pytest.mark.parametrize("lang", LANGUAGES)
def test_result_tells_what_the_compiler_did(place, lang):
    """R1.8: its own verdict, output and cost, apart from the program's."""
    r = run(place, lang, compiled.HELLO[lang]).json
    c = r["compile"]
    assert (r["verdict"], c["verdict"], c["exit_code"], c["cached"], c["limits_hit"]) == ("ok", "ok", 0, False, []), r
    assert c["usage"]["cpu_ms"] > r["usage"]["cpu_ms"] > 0 and c["usage"]["memory_peak_bytes"] > 0
    assert c["usage"]["wall_ms"] > 0 and r["usage"]["wall_ms"] > 0
    assert r["started_at"] and r["start"] == "cold" and r["stderr"] == ""


@pytest.mark.parametrize("lang", LANGUAGES)
def test_compile_error_is_told_by_the_compilers_own_words(place, lang):
    """R1.8: in the run's own stderr as well, so that every client sees it."""
    code, where = compiled.BROKEN[lang]
    r = run(place, lang, code).json
    assert (r["verdict"], r["success"], r["compile"]["verdict"]) == ("compile_error", False, "compile_error"), r
    assert r["exit_code"] == r["compile"]["exit_code"] != 0
    assert where in r["stderr"] and r["stderr"] == r["compile"]["stderr"], r
    assert (r["started_at"], r["start"], r["usage"]["wall_ms"]) == (None, None, 0), "the program never ran"
    plain = run(place, lang, code, json=False)
    assert plain.status == r["exit_code"] and where in plain.err.decode(), plain


@pytest.mark.parametrize("lang", LANGUAGES)
def test_runtime_error_is_the_programs(place, lang):
    """R1.4"""
    code, status, words = compiled.FAILS[lang]
    r = run(place, lang, code).json
    assert (r["verdict"], r["exit_code"], r["compile"]["verdict"]) == ("runtime_error", status, "ok"), r
    assert words in r["stderr"], r


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_program_of_two_files(place, lang):
    """R1.6"""
    code, files = compiled.TWO_FILES[lang]
    result = run(place, lang, code, files=files)
    assert (result.verdict, result.stdout) == ("ok", "other\n"), result


@pytest.mark.parametrize("lang", LANGUAGES)
def test_limits_of_the_run_are_the_programs_alone(place, lang):
    """R1.5: the compiler takes longer than this, and has its own."""
    result = harness.soonest(lambda: run(place, lang, compiled.LOOP[lang], "--timeout", "150ms"), 150)
    r = result.json
    assert (r["verdict"], r["compile"]["verdict"]) == ("timeout", "ok"), r
    assert r["usage"]["wall_ms"] <= 150 + harness.SLACK_MS


def test_outputs_of_the_program_are_fetched_and_the_compilers_are_not(place):
    code = '#include <stdio.h>\nint main(void) { FILE *f = fopen("made.txt", "w"); fputs("made", f); fclose(f); }\n'
    result = run(place, "c", code, "--out", f"made.txt:{place}/made")
    assert [f["name"] for f in result.json["files"]] == ["made.txt"]
    assert (place / "made").read_text() == "made"
    result = run(place, "c", "int main(void) { return nothing; }", "--out", f"made.txt:{place}/none")
    assert result.verdict == "compile_error" and not (place / "none").exists()


def test_files_of_the_job_are_beside_the_program(place):
    code = '#include <stdio.h>\nint main(void) { char b[9]; puts(fgets(b, 9, fopen("data.txt", "r"))); }\n'
    assert run(place, "c", code, files=[("data.txt", "here")]).stdout == "here\n"


def test_compiler_arguments_are_the_callers_to_add(place):
    code = "#include <stdio.h>\nint main(void) { printf(\"%d\\n\", N); }\n"
    assert run(place, "c", code, "--compiler-arg=-DN=42").stdout == "42\n"
    assert run(place, "go", 'package main\nvar v = "old"\nfunc main() { println(v) }\n',
               "--compiler-arg=-ldflags=-X main.v=new").stderr == "new\n"


def test_compiler_can_make_no_socket(place, sealed):
    """Its arguments can make it run anything."""
    attack = """\
import os, socket, sys
for make in (socket.socket, socket.socketpair):
    try: make(); print("made one", file=sys.stderr)
    except OSError as e: print("refused:", os.strerror(e.errno), file=sys.stderr)
os.execvp(sys.argv[1], sys.argv[1:])
"""
    r = run(place, "c", "int main(void) { return 7; }\n", "--compiler-arg=-wrapper",
            "--compiler-arg=/usr/bin/python3,attack.py", files=[("attack.py", attack)]).json
    lines = r["compile"]["stderr"].splitlines()
    assert r["exit_code"] == 7 and len(lines) >= 2 and set(lines) == {"refused: Permission denied"}, r


def test_warnings_are_the_compilers_and_not_the_programs(place):
    r = run(place, "c", "int main(void) { int unused; return 0; }\n").json
    assert r["verdict"] == "ok" and r["stderr"] == "" and "unused" in r["compile"]["stderr"]


def test_what_the_compiler_made_under_another_name_is_an_error_that_says_so(place):
    r = run(place, "c", "int main(void) { return 0; }\n", "--compiler-arg=-o", "--compiler-arg=elsewhere").json
    assert r["verdict"] == "compile_error" and "'program'" in r["stderr"], r


def test_go_modules_and_packages(place):
    main = 'package main\nimport ("example.org/job/greet"; "fmt")\nfunc main() { fmt.Println(greet.Hello()) }\n'
    files = [("go.mod", "module example.org/job\n\ngo 1.19\n"),
             ("greet/greet.go", 'package greet\nfunc Hello() string { return "from a package" }\n')]
    assert run(place, "go", main, files=files).stdout == "from a package\n"


@pytest.mark.skipif(not compiled.installed("java"), reason="java is not installed")
def test_java_class_is_found_by_what_the_file_declares(place):
    r = run(place, "java", """\
class Helper { }
class Foo { public static void main(String[] a) { System.out.println("foo"); } }
""")
    assert r.stdout == "foo\n", r
    r = run(place, "java", """\
package com.example;
public class Main { public static void main(String[] a) { System.out.println("packed"); } }
""")
    assert r.stdout == "packed\n", r


@pytest.mark.skipif(not compiled.installed("java"), reason="java is not installed")
def test_java_without_a_name_is_named_after_its_public_class():
    code = b"""\
import java.util.*;

public class Zoo { public static void main(String[] a) { System.out.println("zoo"); } }
"""
    r = belljar("run", "-l", "java", "-", stdin=code, within=90)
    assert r.out == b"zoo\n", r


JAVA_MAIN = 'public static void main(String[] a) { System.out.println("zoo"); }'


@pytest.mark.skipif(not compiled.installed("java"), reason="java is not installed")
@pytest.mark.parametrize("code", [
    pytest.param("class A { } public final class Zoo { MAIN }", id="last, on one line"),
    pytest.param("// package no;\n/* package none; */ package a . b; // yes\n"
                 "@Deprecated public\nrecord Zoo(int x) { MAIN }", id="record in a package, after comments"),
    pytest.param("/* public class No { */\nclass A { String s = \"public class No\"; }\n"
                 "public enum Zoo { X; MAIN }", id="enum, another in a comment and a string"),
    pytest.param("public interface Zoo { MAIN }", id="interface"),
    pytest.param("public class Shape { } class B { MAIN } class C { }", id="main() beside it, on one line"),
])
def test_java_runs_whatever_the_place_and_the_name_of_its_public_class(code):
    r = belljar("run", "-l", "java", "-", stdin=code.replace("MAIN", JAVA_MAIN).encode(), within=90)
    assert r.out == b"zoo\n", r


def test_language_that_is_missing_says_how_to_get_it(place, deny=harness.deny):
    """Bad input: the compiler cannot be reached. Where the machine has one, it is hidden from the run."""
    hide = []
    if compiled.installed("rust"):
        if not harness.ROOT:
            pytest.skip("hiding a compiler takes root")
        hide = ["unshare", "--mount", "sh", "-c", 'mount --bind /dev/null /usr/bin/rustc && exec "$@"', "sh"]
        result = belljar(*command(place, "rust", compiled.HELLO["rust"]), prefix=hide)
        assert result.verdict == "internal_error" and "rustc" in result.json["error"], result
    plain = belljar(*command(place, "rust", compiled.HELLO["rust"], json=False), prefix=hide)
    assert plain.status == 125 and "apt-get install rustc" in plain.message, plain


# ---- bombs ----

def test_compiler_that_takes_too_long_is_ended(place):
    """R1.8: the verdict is compile_error, and which limit it was is told."""
    start = time.monotonic()
    result = run(place, "cpp", compiled.BOMB, "--compile-limit", "timeout=700ms")
    r = result.json
    assert (r["verdict"], r["compile"]["verdict"], r["limits_hit"]) == ("compile_error", "timeout", ["wall_ms"]), r
    assert result.status == r["exit_code"] == 124 and time.monotonic() - start < 10 * harness.PATIENCE
    plain = run(place, "cpp", compiled.BOMB, "--compile-limit", "timeout=300ms", json=False)
    assert "the compiler took longer than its limit of 300ms; --compile-limit timeout=DUR" in plain.message, plain


def test_compiler_that_takes_too_much_memory_is_ended(place, here):
    if not here.enforces("memory"):
        pytest.skip("no limit of memory for a tree here")
    r = run(place, "cpp", compiled.BOMB, "--compile-limit", "memory=96m").json
    assert (r["verdict"], r["compile"]["verdict"], r["limits_hit"]) == ("compile_error", "memory_limit", ["memory"]), r


def test_a_million_errors_are_bounded(place):
    code = "\n".join(f"int f{i}() {{ return x{i}; }}" for i in range(40000))
    # gcc finds its first error after a while
    r = run(place, "c", code, "--compile-limit", "timeout=2m", within=150).json
    assert (r["verdict"], r["compile"]["verdict"]) == ("compile_error", "output_limit"), r["compile"]["verdict"]
    assert (1 << 20) - 4 <= len(r["stderr"].encode()) <= (1 << 20) + 4 and r["stderr_truncated"] is True
    assert len(r["compile"]["stderr"]) <= 64 << 10 and r["compile"]["stderr_cut"] is True


def test_file_that_includes_itself_is_an_error(place):
    r = run(place, "c", "#include __FILE__\n" * 3).json
    assert r["verdict"] == "compile_error" and "nested" in r["stderr"], r["compile"]["verdict"]


@pytest.mark.parametrize("what", ["/etc/shadow", "/root/.profile", "/dev/stdin", "/proc/1/environ", "/dev/null"])
def test_includes_of_what_is_not_there_are_errors(place, what):
    r = run(place, "c", f'#include "{what}"\nint main(void) {{ return nothing; }}\n').json
    assert (r["verdict"], r["compile"]["verdict"]) == ("compile_error", "compile_error"), r
    assert "root:" not in r["stderr"]


@pytest.mark.parametrize("include", ['#include "/dev/zero"', '#include "/dev/urandom"',
                                     '__asm__(".incbin \\"/dev/zero\\"");', '__asm__(".incbin \\"/proc/self/mem\\"");'])
def test_devices_as_sources_are_bounded(place, here, include):
    r = run(place, "c", f"{include}\nint main(void) {{ return 0; }}\n", "--compile-limit", "timeout=5s",
            "--compile-limit", "memory=200m").json
    assert r["verdict"] in ("compile_error", "ok"), r
    if r["verdict"] == "compile_error":
        assert r["compile"]["verdict"] in ("compile_error", "memory_limit", "timeout", "cpu_timeout", "disk_limit"), r


def test_program_as_large_as_a_disk_is_bounded(place):
    code = "char big[1 << 30] = { 1 };\nint main(void) { return big[5]; }\n"
    r = run(place, "c", code, "--compile-limit", "timeout=10s").json
    assert r["verdict"] == "compile_error", r
    assert r["compile"]["verdict"] in ("disk_limit", "memory_limit", "timeout", "cpu_timeout", "compile_error"), r


def test_cancelled_while_compiling(place):
    """R1.7: no jar is left, and the program does not start."""
    with Running([harness.BELLJAR, *command(place, "cpp", compiled.BOMB)]) as running:
        compilers = eventually(lambda: [p for p in descendants(running.pid) if p.comm == "cc1plus"], 10)
        assert compilers
        os.kill(running.pid, signal.SIGINT)
        result = running.finish(within=10)
    assert (result.verdict, result.status, result.json["compile"]["verdict"]) == ("cancelled", 130, "cancelled"), result
    assert eventually(lambda: not [p for p in compilers if (now := process(p.pid)) and now.start == p.start
                                   and now.state != "Z"], 5)
