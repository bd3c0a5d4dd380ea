"""Python, Node JavaScript and bash, each run by exec in a jar of its own (R1.1, R2.1-R2.3, R2.6)."""

import pytest

from harness import belljar, run, run_js, run_py, run_sh

HELLO = {
    "python": "print('hello, world')",
    "node": "console.log('hello, world')",
    "bash": "echo hello, world",
}
ARGS = {
    "python": "import sys; print('|'.join(sys.argv[1:]))",
    "node": "console.log(process.argv.slice(2).join('|'))",
    "bash": "IFS='|'; echo \"$*\"",
}
ECHO_STDIN = {
    "python": "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())",
    "node": "process.stdin.pipe(process.stdout)",
    "bash": "cat",
}
EXIT_7 = {"python": "raise SystemExit(7)", "node": "process.exit(7)", "bash": "exit 7"}
FAIL = {
    "python": ("def f():\n    return 1 / 0\nf()\n", "ZeroDivisionError"),
    "node": ("function f() { return nothing.here }\nf()\n", "ReferenceError"),
    "bash": ("set -u\necho $nothing_here\n", "nothing_here: unbound variable"),
}
WHERE = {
    "python": "import os; print(os.getcwd())",
    "node": "console.log(process.cwd())",
    "bash": "pwd",
}
LANGUAGES = sorted(HELLO)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_hello_prints_hello_and_nothing_else(lang):
    """R1.1"""
    result = run(HELLO[lang], lang, json=False)
    assert (result.status, result.out, result.err) == (0, b"hello, world\n", b""), result


@pytest.mark.parametrize("lang", LANGUAGES)
def test_arguments_arrive_unchanged(lang):
    """R1.1: also the empty argument, spaces, quotes, newlines, options and bytes that are not UTF-8."""
    args = ["a", "", "two words", "q'\"q", "-x", "--json", "new\nline", "ü", "$HOME", "*"]
    result = run(ARGS[lang], lang, json=False, args=args)
    assert result.out == ("|".join(args) + "\n").encode(), result


@pytest.mark.parametrize("lang", LANGUAGES)
def test_stdin_arrives_unchanged(lang):
    """R1.1: binary, and more than any pipe holds."""
    data = bytes(range(256)) * 4096
    result = run(ECHO_STDIN[lang], lang, json=False, stdin=data)
    assert result.status == 0 and result.out == data


@pytest.mark.parametrize("lang", LANGUAGES)
def test_exit_code_is_the_programs(lang):
    """R1.3"""
    result = run(EXIT_7[lang], lang)
    assert result.status == 7
    assert (result.json["exit_code"], result.verdict, result.json["signal"]) == (7, "runtime_error", None)
    assert result.json["success"] is False


@pytest.mark.parametrize("lang", LANGUAGES)
def test_runtime_error_shows_the_languages_own_message(lang):
    """R1.4"""
    code, message = FAIL[lang]
    result = run(code, lang)
    assert result.verdict == "runtime_error" and result.status != 0, result
    assert message in result.stderr, result


@pytest.mark.parametrize("lang", LANGUAGES)
def test_working_directory_is_sandbox(lang, sealed):
    """R1.1"""
    assert run(WHERE[lang], lang).stdout == "/sandbox\n"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_language_and_version_are_told(lang):
    """R1.3"""
    result = run(HELLO[lang], lang).json
    assert result["language"] == {"node": "javascript"}.get(lang, lang)
    assert result["version"] and result["version"][0].isdigit(), result["version"]


def test_python_tracebacks_name_the_file_and_the_line():
    result = run_py("x = 1\n\nraise ValueError('here')\n", name="story.py")
    assert 'story.py", line 3' in result.stderr


def test_python_imports_the_file_beside_it(public_path):
    """R1.1"""
    (public_path / "helper.py").write_text("VALUE = 41\n")
    result = run_py("import helper; print(helper.VALUE + 1)", file=[public_path / "helper.py"])
    assert result.stdout == "42\n", result


def test_node_requires_the_file_beside_it(public_path):
    """R1.1"""
    (public_path / "helper.js").write_text("module.exports = 41\n")
    result = run_js("console.log(require('./helper') + 1)", file=[public_path / "helper.js"])
    assert result.stdout == "42\n", result


def test_bash_sources_the_file_beside_it(public_path):
    """R1.1"""
    (public_path / "helper.sh").write_text("value=41\n")
    result = run_sh(". ./helper.sh; echo $((value + 1))", file=[public_path / "helper.sh"])
    assert result.stdout == "42\n", result


def test_files_beside_can_be_renamed(public_path):
    """R1.1: HOST:NAME"""
    (public_path / "odd name.txt").write_text("content")
    result = run_py("print(open('data.txt').read())", file=[f"{public_path}/odd name.txt:data.txt"])
    assert result.stdout == "content\n", result


def test_files_beside_can_lie_in_folders(public_path):
    """R1.1: a package is importable"""
    (public_path / "part.py").write_text("VALUE = 42\n")
    (public_path / "init.py").write_text("")
    files = [f"{public_path}/init.py:pkg/__init__.py", f"{public_path}/part.py:pkg/part.py"]
    result = run_py("from pkg.part import VALUE; print(VALUE)", file=files)
    assert result.stdout == "42\n", result


def test_files_beside_arrive_byte_for_byte(public_path):
    data = bytes(range(256)) * 1000
    (public_path / "data.bin").write_bytes(data)
    result = run_py(
        "import hashlib; print(hashlib.sha256(open('data.bin','rb').read()).hexdigest())",
        file=[public_path / "data.bin"],
    )
    import hashlib

    assert result.stdout.strip() == hashlib.sha256(data).hexdigest()


def test_main_file_keeps_its_name():
    result = run_py("import sys, os; print(os.path.basename(sys.argv[0]), __name__)", name="my program.py")
    assert result.stdout == "my program.py __main__\n", result


@pytest.mark.parametrize(
    ("name", "code"),
    [("x.py", "print(1)"), ("x.js", "console.log(1)"), ("x.sh", "echo 1"), ("x.bash", "echo 1"),
     ("x.mjs", "console.log(1)")],
)
def test_language_is_known_by_the_file_name(public_path, name, code):
    """R1.11, as far as a name goes"""
    (public_path / name).write_text(code)
    result = belljar("run", public_path / name)
    assert (result.status, result.out) == (0, b"1\n"), result


@pytest.mark.parametrize(
    ("alias", "code"),
    [("python", "print(1)"), ("py", "print(1)"), ("javascript", "console.log(1)"), ("js", "console.log(1)"),
     ("node", "console.log(1)"), ("bash", "echo 1"), ("sh", "echo 1"), ("shell", "echo 1")],
)
def test_languages_go_by_every_name_people_use(alias, code):
    """R2"""
    result = belljar("run", "-l", alias, "-", stdin=code.encode())
    assert (result.status, result.out) == (0, b"1\n"), result


@pytest.mark.parametrize(
    ("lang", "code", "name"),
    [("python", "import sys; print(sys.argv[0].split('/')[-1])", "main.py"),
     ("node", "console.log(process.argv[1].split('/').pop())", "main.js"),
     ("bash", "echo ${0##*/}", "main.sh")],
)
def test_program_from_stdin_has_a_name_and_an_empty_stdin(lang, code, name):
    result = belljar("run", "-l", lang, "-", stdin=code.encode())
    assert (result.status, result.out) == (0, name.encode() + b"\n"), result


def test_program_from_stdin_reads_an_empty_stdin():
    result = belljar("run", "-l", "python", "-", stdin=b"import sys; print(repr(sys.stdin.read()))")
    assert result.out == b"''\n", result


def test_subprocesses_and_threads_work():
    """A jar is a place to work in: processes, threads, pipes, sockets of its own."""
    code = """
import subprocess, threading, multiprocessing, tempfile, socket, os
print(subprocess.run(["bash", "-c", "echo sub | cat"], capture_output=True, text=True, check=True).stdout, end="")
seen = []
threads = [threading.Thread(target=seen.append, args=(i,)) for i in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(seen))
with tempfile.TemporaryFile() as f:
    f.write(b"x" * 1000); print(f.tell())
"""
    result = run_py(code)
    assert result.stdout == "sub\n[0, 1, 2, 3, 4, 5, 6, 7]\n1000\n", result


def test_loopback_works_inside(sealed):
    """R4.2: the network is off, the jar's own loopback is not"""
    code = """
import socket, threading
s = socket.create_server(("127.0.0.1", 0))
def serve():
    c, _ = s.accept(); c.sendall(b"pong"); c.close()
threading.Thread(target=serve).start()
print(socket.create_connection(s.getsockname()).recv(10).decode())
"""
    assert run_py(code).stdout == "pong\n"


def test_version_names_the_program():
    result = belljar("--version")
    assert result.status == 0 and result.out.decode().lower().startswith("belljar"), result
