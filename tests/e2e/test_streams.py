"""The output of the program arrives unchanged, while the program runs (R1.2, R1.5)."""

import base64
import subprocess

import pytest

from harness import given_time, run_py, run_sh, start

BOTH = """
import sys
{}
sys.stdout.buffer.write(out); sys.stdout.flush()
sys.stderr.buffer.write(err); sys.stderr.flush()
"""


def test_streams_are_separate_and_byte_exact():
    """R1.2: every byte value, no newline added or eaten"""
    result = run_py(BOTH.format("out = bytes(range(256)); err = out[::-1]"), json=False)
    assert (result.status, result.out, result.err) == (0, bytes(range(256)), bytes(range(256))[::-1])


def test_five_megabytes_on_both_streams_arrive_whole():
    """R1.2"""
    code = """
import os, threading
def flood(fd, byte):
    data = bytes([byte, 0, 10, 255]) * (5 << 18)
    while data:
        data = data[os.write(fd, data):]
threads = [threading.Thread(target=flood, args=a) for a in ((1, 65), (2, 66))]
[t.start() for t in threads]; [t.join() for t in threads]
"""
    result = run_py(code, json=False)
    assert result.status == 0
    assert result.out == bytes([65, 0, 10, 255]) * (5 << 18)
    assert result.err == bytes([66, 0, 10, 255]) * (5 << 18)


def test_five_megabytes_on_both_streams_arrive_whole_in_json():
    """R1.2"""
    result = run_py(BOTH.format("out = b'o' * (5 << 20); err = b'e' * (5 << 20)"))
    assert result.stdout == "o" * (5 << 20) and result.stderr == "e" * (5 << 20)
    assert result.json["stdout_truncated"] is False and result.json["stderr_truncated"] is False


def test_output_arrives_while_the_program_runs():
    """R1.5: the first line is read before the program can go on, on both directions of the pipe"""
    code = """
import sys
for _ in range(3):
    print("ready", flush=True)
    print("got", sys.stdin.readline().strip(), flush=True)
"""
    with start(code, json=False, stdin=subprocess.PIPE) as running:
        for word in ("one", "two", "three"):
            assert running.read_line() == "ready"
            running.popen.stdin.write(word.encode() + b"\n")
            running.popen.stdin.flush()
            assert running.read_line() == f"got {word}"
        assert running.finish().status == 0


def test_python_output_is_kept_when_it_is_killed():
    """R1.4: a program that never flushes still shows the output from before its time was up"""
    result = given_time(lambda ms: run_py("print('before')\nwhile True: pass", timeout=f"{ms}ms"))
    assert result.verdict == "timeout" and result.stdout == "before\n", result


def test_streams_may_be_closed_early():
    result = run_sh("exec 1>&- 2>&-; exit 3", json=False)
    assert (result.status, result.out, result.err) == (3, b"", b"")


def test_the_reader_may_go_away():
    """belljar | head: the program ends, nothing hangs"""
    with start("import itertools\nfor i in itertools.count(): print(i)", json=False, timeout="20s") as running:
        assert running.read_line() == "0"
        running.popen.stdout.close()
        running.popen.stdout = None
        assert running.finish(within=15).status != 0


def test_valid_utf8_has_no_base64():
    """R1.2"""
    result = run_py("print('grüße 🫙')").json
    assert result["stdout"] == "grüße 🫙\n" and "stdout_base64" not in result and "stderr_base64" not in result


@pytest.mark.parametrize(
    "data",
    [b"\xff", b"ok \xc3\x28 ok", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"cut \xe2\x82", bytes(range(256))],
    ids=["ff", "bad tail", "surrogate", "past 10ffff", "overlong nul", "cut short", "all"],
)
def test_invalid_utf8_is_flagged_and_kept_exactly(data):
    """R1.2"""
    result = run_py(BOTH.format(f"out = {data!r}; err = {data!r}")).json
    for stream in ("stdout", "stderr"):
        assert base64.b64decode(result[f"{stream}_base64"], validate=True) == data
        assert "\ufffd" in result[stream]
        result[stream].encode("utf-8")  # a surrogate would not pass


def test_nul_bytes_survive_json():
    """R1.2"""
    result = run_py(BOTH.format("out = b'a\\0b'; err = b'\\0'")).json
    assert (result["stdout"], result["stderr"]) == ("a\0b", "\0")


def test_output_of_grandchildren_is_caught():
    result = run_sh("(sleep 0.2; echo late) & wait; echo end")
    assert result.stdout == "late\nend\n"


def test_orphans_do_not_outlive_the_program(host):
    """The run is over when its program is. A process that the program left in the background is ended, not waited
    for."""
    result = run_sh("sleep 300 & echo done", timeout="20s")
    assert result.verdict == "ok" and result.stdout == "done\n", result
    assert result.usage["wall_ms"] < 10000
