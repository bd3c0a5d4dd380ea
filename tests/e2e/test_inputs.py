"""Environment, stdin, descriptors: the program gets exactly the ones that were given (R1.1, R4.1)."""

import os

import pytest

from harness import run_js, run_py, run_sh

ENVIRON = "import json, os; print(json.dumps(dict(os.environ)))"
EVERYWHERE = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/sandbox",
    "USER": "sandbox",
    "LOGNAME": "sandbox",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",
    "PWD": "/sandbox",
}
PYTHONS_OWN = {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def environ(**opts):
    import json

    return json.loads(run_py(ENVIRON, **opts).stdout)


def test_environment_is_exactly_the_documented_one(sealed):
    """R4.1: built from nothing"""
    env = environ(environ={**os.environ, "SECRET_TOKEN": "hunter2", "LD_PRELOAD": "", "PYTHONSTARTUP": "/tmp/x"})
    assert env == {**EVERYWHERE, **PYTHONS_OWN}


def test_other_languages_have_no_variables_of_their_own(sealed):
    found = run_js("console.log(require('fs').readFileSync('/proc/self/environ', 'utf8'))").stdout
    assert dict(e.split("=", 1) for e in found.strip().split("\0") if e) == EVERYWHERE


def test_env_option_adds_and_overrides():
    """R1.1"""
    env = environ(env=["NEW=value with = and spaces", "EMPTY=", "LANG=C", "TEXT=ü", "MULTI=a\nb"])
    assert env["NEW"] == "value with = and spaces" and env["EMPTY"] == "" and env["LANG"] == "C"
    assert (env["TEXT"], env["MULTI"]) == ("ü", "a\nb")


@pytest.mark.parametrize(("runner", "code"), [
    (run_py, "import os; print(os.environ['GREETING'])"),
    (run_js, "console.log(process.env.GREETING)"),
    (run_sh, "echo $GREETING"),
])
def test_env_option_reaches_every_language(runner, code):
    assert runner(code, env=["GREETING=good morning"]).stdout == "good morning\n"


def test_last_of_two_equal_env_options_counts():
    assert environ(env=["A=1", "A=2"])["A"] == "2"


def test_stdin_file(public_path):
    """R1.1"""
    data = bytes(range(256)) * 1024
    (public_path / "in").write_bytes(data)
    result = run_py("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())", json=False, stdin=b"not this",
                    stdin_file=public_path / "in")
    assert (result.status, result.out) == (0, data)


def test_no_stdin_is_an_empty_stdin():
    assert run_py("import sys; print(repr(sys.stdin.read()))").stdout == "''\n"


def test_program_need_not_read_its_stdin():
    """A megabyte nobody reads does not hang the run."""
    result = run_py("print('done')", stdin=b"x" * (1 << 20))
    assert (result.verdict, result.stdout) == ("ok", "done\n")


def test_closed_standard_descriptors_do_not_confuse():
    """belljar <&- : the program still gets three descriptors of its own"""
    code = "import os; print([os.fstat(fd) is not None for fd in (0, 1, 2)])"
    for closed in ("<&-", "2>&-"):
        result = run_py(code, json=False, prefix=["sh", "-c", f'exec "$@" {closed}', "sh"])
        assert (result.status, result.out) == (0, b"[True, True, True]\n"), (closed, result)


def test_unicode_and_odd_file_names(public_path):
    for name in ("ünï côdé.txt", "-dash", "a:b.txt"):
        (public_path / name).write_text("x")
    result = run_py(
        "import os; print(sorted(os.listdir('.')))",
        file=[f"{public_path}/ünï côdé.txt", f"{public_path}/-dash"],
    )
    assert result.stdout == str(sorted(["main.py", "-dash", "ünï côdé.txt"])) + "\n", result


def test_files_given_are_the_programs_to_change(public_path):
    (public_path / "data").write_text("host's")
    result = run_py("open('data', 'a').write(' and mine'); print(open('data').read())", file=[public_path / "data"])
    assert result.stdout == "host's and mine\n", result
    assert (public_path / "data").read_text() == "host's"


def test_thousand_files_beside(public_path):
    """R1.1: many small files are no problem"""
    files = []
    for i in range(1000):
        path = public_path / f"f{i}"
        path.write_text(str(i))
        files.append(path)
    result = run_py("import os; print(sum(int(open(f).read()) for f in os.listdir('.') if f != 'main.py'))", file=files)
    assert result.stdout == f"{sum(range(1000))}\n", result
