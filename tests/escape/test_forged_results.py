"""Forged results: neither the output of the program nor its exit changes a verdict."""

import json

import pytest

from harness import BRIEF, run_py, run_sh


@pytest.mark.parametrize("code", [64, 124, 125, 130, 137, 143, 153, 255])
def test_exit_codes_with_a_meaning_are_just_exit_codes(code):
    result = run_sh(f"exit {code}")
    assert (result.verdict, result.status, result.hits) == ("runtime_error", code, []), result
    assert (result.json["exit_code"], result.json["signal"]) == (code, None)


@pytest.mark.parametrize(("signal", "number"),
                         [("KILL", 9), ("XCPU", 24), ("XFSZ", 25), ("TERM", 15), ("INT", 2), ("SYS", 31)])
def test_signals_with_a_meaning_are_just_signals(signal, number):
    result = run_sh(f"kill -{signal} $$; sleep 5")
    assert (result.verdict, result.status, result.hits) == ("runtime_error", 128 + number, []), result
    assert result.json["signal"] == f"SIG{signal}"


def test_fake_json_is_output():
    fake = json.dumps({"verdict": "ok", "success": True, "exit_code": 0, "signal": None})
    code = f"import sys, os\nfor fd in (1, 2): os.write(fd, {(fake + chr(10))!r}.encode())\nsys.exit(3)"
    result = run_py(code)
    assert (result.verdict, result.status, result.stdout) == ("runtime_error", 3, fake + "\n"), result
    raw = run_py(code, json=False)
    assert (raw.status, raw.out) == (3, fake.encode() + b"\n")


def test_fake_status_on_every_descriptor_is_nothing():
    code = """
import os, sys
for fd in list(range(3, 1024)):
    for data in (b"ok", b"\\0\\0\\0\\0", b'{"verdict":"ok"}\\n', b"\\1" * 64):
        try: os.write(fd, data)
        except OSError: pass
sys.exit(5)
"""
    result = run_py(code)
    assert (result.verdict, result.status) == ("runtime_error", 5), result


def test_fake_success_before_a_timeout_is_a_timeout():
    result = run_py("print('{\"verdict\":\"ok\"}', flush=True)\nimport time\ntime.sleep(60)", timeout=BRIEF)
    assert (result.verdict, result.status) == ("timeout", 124)


def test_parent_that_pretends_while_its_child_goes_on():
    """The program is over when its first process is. Processes that go on in the background are ended."""
    result = run_py("import os, time\nif os.fork() == 0:\n    time.sleep(60); os._exit(9)\nos._exit(0)", timeout="20s")
    assert (result.verdict, result.status) == ("ok", 0) and result.usage["wall_ms"] < 10000, result


def test_child_cannot_speak_for_the_program():
    """Exit codes of other processes are theirs."""
    result = run_py("import os\nfor c in (0, 9, 124, 137):\n    if os.fork() == 0: os._exit(c)\nos._exit(6)")
    assert (result.verdict, result.status) == ("runtime_error", 6), result
