"""The first things that a newcomer types: each one works, or its message names the right command."""

import json

import pytest

from harness import belljar
from service import Service

SAY = "import sys; print('hi', *sys.argv[1:])"


def notebook(*cells, language="python"):
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"language_info": {"name": language}},
                       "cells": [{"cell_type": "markdown", "source": ["# title"]}] +
                                [{"cell_type": "code", "source": c.splitlines(True)} for c in cells]})


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder as a newcomer has it: a program, two projects, notebooks."""
    top = tmp_path_factory.mktemp("newcomer")
    files = {
        "hello.py": SAY,
        "hello": "#!/usr/bin/env python3\n" + SAY,
        "data.txt": "7",
        "project/main.py": "import part.more; print('project', part.more.n, open('table.csv').read())",
        "project/part/more.py": "n = 5",
        "project/table.csv": "1,2",
        "project/.env": "SECRET=1",
        "project/id_rsa": "key",
        "project/node_modules/x/index.js": "1",
        "one/program.js": "console.log('one')",
        "two/a.py": "1",
        "two/b.py": "2",
        "none/readme.txt": "nothing",
        "good.ipynb": notebook("x = 20", "print(x + 1)\nx * 2"),
        "bad.ipynb": notebook("print('first')", "1 / 0", "print('never')"),
        "broken.ipynb": "{",
        "empty.ipynb": notebook("  "),
    }
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (top / "project/link.py").symlink_to("/etc/passwd")
    return top


@pytest.fixture(scope="module")
def s():
    with Service() as service:
        yield service


WORKS = {
    ("hello.py",): "hi\n",
    ("./hello.py",): "hi\n",
    ("hello",): "hi\n",
    ("hello.py", "a", "b"): "hi a b\n",
    ("run", "hello.py", "a", "b"): "hi a b\n",
    ("hello.py", "--", "--loud"): "hi --loud\n",
    ("hello.py", "a", "--", "--loud"): "hi a --loud\n",
    ("-l", "python", "hello.py"): "hi\n",
    ("--timeout", "5s", "hello.py"): "hi\n",
    ("hello.py", "--timeout", "5s"): "hi\n",
    ("-c", "print(6 * 7)"): "42\n",
    ("run", "-l", "bash", "-c", "echo $1", "x"): "x\n",
    ("-l", "js", "-c", "console.log(6 * 7)"): "42\n",
    ("project",): "project 5 1,2\n",
    ("run", "project/"): "project 5 1,2\n",
    ("one",): "one\n",
    ("-V",): "belljar 0.1.0\n",
    ("-v",): "belljar 0.1.0\n",
    ("--version",): "belljar 0.1.0\n",
}


@pytest.mark.parametrize("words", WORKS, ids=" ".join)
def test_first_guess_works(here, words):
    result = belljar(*words, cwd=here)
    assert (result.status, result.out.decode()) == (0, WORKS[words]), result


HINTS = {
    ("python",): "'belljar run -l python FILE' runs a program",
    ("python", "hello.py"): "'belljar repl python' opens a session",
    ("node", "x.js"): "'belljar run -l javascript -c CODE' a line",
    ("runn", "hello.py"): "did you mean 'run'?",
    ("exec", "hello.py"): "'belljar run FILE'",
    ("ps",): "'belljar top'",
    ("logs",): "'belljar history'",
    ("server",): "'belljar serve'",
    ("stop",): "'belljar session rm ID'",
    ("lint", "hello.py"): "belljar check",
    ("daemon",): "'belljar serve'",
    ("install", "ruby"): "'belljar languages install LANGUAGE'",
    ("kill",): "'belljar session rm ID'",
    ("snapshot",): "'belljar session --help'",
    ("nonsense",): "see 'belljar help' for all commands",
    ("missing.py",): "program 'missing.py': No such file or directory",
    ("hello.py", "--loud"): "an option of the program follows --",
    ("hello.py", "--timout", "1s"): "did you mean --timeout?",
    ("--service", "http://127.0.0.1:1", "run", "hello.py"): "write 'belljar run --service ...'",
    ("--json", "history"): "write 'belljar history --json ...'",
    ("run", "--rm", "-it", "hello.py"): "is removed after its run, so leave it out",
    ("run", "-m", "64m", "hello.py"): "--memory 256m limits its memory",
    ("run", "-v", "/tmp:/x", "hello.py"): "--mount DIR shows a directory as /mnt/NAME",
    ("run", "-e", "A=1", "hello.py"): "--env NAME=VALUE sets a variable",
    ("run", "-t", "5", "hello.py"): "--timeout 5s limits its time",
    ("run", "--no-network", "hello.py"): "no program has a network unless",
    ("run", "--network", "@pypi", "hello.py"): "--allow-net takes hosts and presets",
    ("serve", "--port", "8080"): "--listen 127.0.0.1:PORT is its address",
    ("serve", "--port=8080"): "--listen 127.0.0.1:PORT is its address",
    ("serve", "-d"): "'systemctl enable --now belljar' keeps one running",
    ("repl", "--lang", "python"): "'belljar repl python'",
    ("two",): "name the program, or call it main",
    ("none",): "a file such as main.py or index.js is looked for",
    ("broken.ipynb",): "'broken.ipynb' is no notebook",
    ("empty.ipynb",): "has no code cell",
    ("good.ipynb", "a"): "a notebook takes limits",
    ("missing.ipynb",): "notebook 'missing.ipynb': No such file or directory",
}


@pytest.mark.parametrize("words", HINTS, ids=" ".join)
def test_first_guess_is_answered_with_the_right_command(here, words):
    result = belljar(*words, cwd=here)
    assert result.status in (64, 125) and HINTS[words] in result.message, result
    assert result.out == b""


def test_piped_program_needs_no_dash(here):
    assert belljar(stdin=b"print(1)", cwd=here).out == b"1\n"
    assert belljar("run", stdin=b"print(2)", cwd=here).out == b"2\n"
    assert belljar("-l", "python", stdin=b"print(3)", cwd=here).out == b"3\n"
    # Nothing is piped: the overview.
    assert belljar(cwd=here).status == 64


def test_code_of_an_option_reads_our_input(here):
    assert belljar("-c", "print(input() + '!')", stdin=b"me\n", cwd=here).out == b"me!\n"


@pytest.mark.parametrize("options", [("--timeout", "1x"), ("--memory", "lots"), ("--env", "A"), ("--isolation", "none"),
                                     ("-l", "cobol2"), ("--allow-net", "*"), ("--file", "x:../b"), ("--nothing",)])
def test_every_bad_option_is_a_mistake_on_the_command_line(here, options):
    result = belljar("run", *options, "hello.py", cwd=here)
    assert result.status == 64 and options[-1].lstrip("-").rpartition(":")[2] in result.message, result


def test_project_leaves_out_keys_links_and_packages(here):
    code = "import os; print(sorted(os.path.join(d, f)[2:] for d, _, fs in os.walk('.') for f in fs))"
    main = here / "project/main.py"
    before = main.read_text()
    main.write_text(code)
    try:
        result = belljar("project", cwd=here)
    finally:
        main.write_text(before)
    assert result.out.decode() == "['main.py', 'part/more.py', 'table.csv']\n"
    assert "'id_rsa' is left out" in result.message


def test_missing_output_is_in_the_exit_status(here):
    result = belljar("run", "--out", "report.txt", "hello.py", cwd=here)
    assert (result.status, result.out) == (125, b"hi\n")
    assert "'report.txt' is not saved: the program did not create it" in result.message
    # The status of a program that failed says more.
    assert belljar("run", "--out", "report.txt", "-c", "raise SystemExit(3)", cwd=here).status == 3


def test_strict_accepts_a_machine_that_enforces_every_limit(here):
    result = belljar("run", "--strict", "hello.py", cwd=here)
    unenforced = json.loads(belljar("run", "--local", "--json", "hello.py", cwd=here).out)["isolation"]["unenforced"]
    assert result.status == (125 if unenforced else 0), result
    weak = belljar("run", "--strict", "--isolation", "process", "hello.py", cwd=here)
    assert weak.status == 125 and "level process does not enforce --" in weak.message, weak


def test_notebook_runs_its_code_cells_in_a_session(s, here):
    environ = {"BELLJAR_STATE": str(s.state)}
    result = belljar("good.ipynb", cwd=here, environ=environ)
    assert (result.status, result.out) == (0, b"21\n40\n"), result
    result = belljar("run", "bad.ipynb", cwd=here, environ=environ)
    assert result.status == 1 and result.out.startswith(b"first\n") and b"never" not in result.out, result
    assert "ZeroDivisionError" in result.message + result.out.decode()
    assert s.get("/v1/sessions").json["sessions"] == []
