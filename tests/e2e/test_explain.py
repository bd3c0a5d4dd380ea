"""Failures explained on the command line: after a run on a terminal, in --json, and by `belljar explain`."""

import json
import os
import pty
import select
import subprocess

import pytest

import harness

CODE = 'prices = {"tea": 3}\nprint(prices["tee"])\n'
TRACE = 'Traceback (most recent call last):\n  File "a.py", line 2, in <module>\nKeyError: \'tee\'\n'


@pytest.fixture
def file_with(tmp_path):
    def made(text):
        path = tmp_path / "a.py"
        path.write_text(text)
        return path
    return made


def on_a_terminal(*argv):
    """The output of a run whose stderr is a terminal, and whose other streams are not."""
    master, slave = pty.openpty()
    done = subprocess.Popen([harness.BELLJAR, *map(str, argv)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=slave)
    os.close(slave)
    said = b""
    while select.select([master], [], [], 30)[0]:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(master)
    done.wait(30)
    return said.decode().replace("\r\n", "\n")


def belljar(*argv, stdin=""):
    return subprocess.run([harness.BELLJAR, *map(str, argv)], input=stdin, capture_output=True, text=True, timeout=60,
                          check=False)


def test_a_failure_is_explained_on_a_terminal(file_with):
    said = on_a_terminal("run", "--local", file_with(CODE))
    assert "error[KeyError]" in said.replace("\x1b[1;31m", "").replace("\x1b[0m", "")
    assert "Did you mean" in said and 'print(prices["tea"])' in said


def test_nothing_is_explained_where_nobody_asked(file_with):
    path = file_with(CODE)
    assert "Did you mean" not in on_a_terminal("run", "--local", "--no-diagnosis", path)
    assert "Did you mean" not in belljar("run", "--local", path).stderr
    assert "error" not in on_a_terminal("run", "--local", file_with("print(1)\n"))


def test_json_has_the_diagnosis(file_with):
    path = file_with(CODE)
    d = json.loads(belljar("run", "--local", "--json", path).stdout)["diagnosis"]
    assert d["location"]["line"] == 2 and d["suggestions"][0]["replacement"] == 'print(prices["tea"])'
    assert json.loads(belljar("run", "--local", "--json", "--no-diagnosis", path).stdout)["diagnosis"] is None
    assert json.loads(belljar("run", "--local", "--json", file_with("print(1)\n")).stdout)["diagnosis"] is None


def test_explain_reads_an_error_from_elsewhere(file_with):
    done = belljar("explain", "--source", file_with(CODE), stdin=TRACE)
    assert done.returncode == 0
    assert done.stdout.startswith("error[KeyError]: 'tee'\n --> a.py:2:1\n")
    assert "help: Did you mean 'tea'? The program has that key.\n" in done.stdout
    d = json.loads(belljar("explain", "--json", "-l", "python", stdin=TRACE).stdout)
    assert (d["language"], d["type"], d["location"]["line"]) == ("python", "KeyError", 2)


def test_explain_says_when_there_is_nothing_to_explain():
    done = belljar("explain", stdin="all is well\n")
    assert done.returncode == 1 and "there is no error in this text" in done.stderr
    assert belljar("explain", "--json", stdin="").stdout == "null\n"
    refused = belljar("explain", "-l", "klingon", stdin=TRACE)
    assert refused.returncode == 64 and "Language 'klingon' is not supported" in refused.stderr


def test_explain_names_a_file_that_is_too_large(tmp_path):
    path = tmp_path / "huge.log"
    with path.open("wb") as f:
        f.truncate(17 << 20)
    done = belljar("explain", path)
    assert done.returncode == 125 and done.stderr.startswith("belljar: read '/"), done
    assert done.stderr.endswith("': more than 16777216 bytes\n"), done


def test_what_a_program_printed_does_not_control_the_terminal():
    forged = TRACE.replace("'tee'", "\x1b]0;owned\x07\x1b[2J")
    assert "\x1b" not in belljar("explain", stdin=forged).stdout
