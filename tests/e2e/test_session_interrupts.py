"""Interrupts of the session programs at every moment of a cell, bare. None is lost, and none reaches the next cell.

The test reminds an interrupted program by SIGURG, as the warden does (src/jar/cell.c)."""
import os
import shutil
import subprocess
import time

import pytest

from channel import EXEC, Program
from harness import BELLJAR, REPO

pytestmark = pytest.mark.release_only  # the programs are built without sanitizers
GUEST = os.path.join(os.path.dirname(BELLJAR), "guest")
ENDLESS_SQL = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"


def node(language):
    return ["/usr/bin/node", "-r", f"{GUEST}/{language}/session.js", f"{GUEST}/node/session_begin.js"]


# Language: command, endless cells, a cell and its output.
PROGRAMS = {
    "python": (["/usr/bin/python3", "-B", str(REPO / "src/runtime/python/guest/session.py")],
               ["while True: pass", "import time; time.sleep(100)", "import asyncio; await asyncio.sleep(100)"],
               "print(6 * 7)"),
    "javascript": (node("node"), ["for (;;);", "await new Promise(() => {})"], "console.log(6 * 7)"),
    "typescript": (node("typescript"), ["for (;;);", "await new Promise(() => {})"], "console.log(6 * 7)"),
    "bash": ([f"{GUEST}/bash/bash"],
             ["while :; do :; done", "sleep 100 | cat", "read x < <(sleep 100)", "f() { sleep 100; }; f"],
             "echo $((6 * 7))"),
    "sqlite": ([f"{GUEST}/sqlite/sqlite", "--session"],
               [ENDLESS_SQL, f"CREATE TEMP TABLE IF NOT EXISTS t (x); {ENDLESS_SQL}"],
               "CREATE TABLE IF NOT EXISTS x (y)"),
}
DELAYS_S = (0, 0.0005, 0.001, 0.002, 0.005, 0.010)


def program(language):
    command = PROGRAMS[language][0]
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    ipython = [command[0], "-c", "import IPython"]
    if language == "python" and subprocess.run(ipython, stderr=subprocess.DEVNULL).returncode:
        pytest.skip("IPython is not installed (apt-get install python3-ipython)")
    return Program(command)


@pytest.mark.parametrize("language", PROGRAMS)
def test_an_interrupt_is_neither_lost_nor_late(language):
    _, endless, calm = PROGRAMS[language]
    with program(language) as p:
        expected = p.run(calm)["stdout"]
        assert expected
        for n in range(48):
            code, delay = endless[n % len(endless)], DELAYS_S[n % len(DELAYS_S)]
            p.begin(EXEC, ("code", code))
            time.sleep(delay)
            p.interrupt()
            reply = p.finish()
            assert reply["status"] == "interrupted" and reply.error["name"] == "KeyboardInterrupt", (n, code, reply)
            after = p.run(calm)
            assert (after["status"], after["stdout"], after["stderr"]) == ("ok", expected, ""), (n, code, after)


@pytest.mark.parametrize("language", PROGRAMS)
def test_an_interrupt_at_the_end_of_a_cell_does_not_reach_the_next_one(language):
    calm = PROGRAMS[language][2]
    with program(language) as p:
        expected = p.run(calm)["stdout"]
        for n in range(48):
            p.begin(EXEC, ("code", calm))
            time.sleep(n % 12 * 0.0002)
            p.interrupt()
            assert p.finish()["status"] in ("ok", "interrupted")
            after = p.run(calm)
            assert (after["status"], after["stdout"], after["stderr"]) == ("ok", expected, ""), (n, after)


def interrupted_after(p, delay, code):
    p.begin(EXEC, ("code", code))
    time.sleep(delay)
    p.interrupt()
    reply = p.finish()
    assert reply["status"] == "interrupted" and reply.error["name"] == "KeyboardInterrupt", (code, reply)
    return reply


def test_an_interrupt_does_not_cut_a_frame_of_python():
    """A frame that is missing, or a message without its end, would end the session."""
    code = """
import belljar_channel, os, signal
from IPython.display import display
def write(fd, frame, write=os.write):
    os.kill(os.getpid(), signal.SIGINT)
    return write(fd, frame)
belljar_channel._write = write
try:
    display({"text/plain": "x" * 100_000}, raw=True)
finally:
    belljar_channel._write = os.write
"""
    with program("python") as p:
        reply = p.run(code)
        assert reply["status"] == "interrupted" and len(reply["events"][0][1]["bundle"]["text/plain"]) == 100_000
        assert p.run("print(6 * 7)")["stdout"] == "42\n"


BUSY = "import time\ndef busy(*_):\n    end = time.monotonic() + 0.4\n    while time.monotonic() < end: pass\n"


@pytest.mark.parametrize("code", [
    "class Slow:\n    __del__ = busy\nSlow()\nwhile True: pass",
    "get_ipython().events.register('post_run_cell', busy)",
    "for i in range(2):\n    try: time.sleep(100)\n    except: pass\nelse: time.sleep(100)",
], ids=["finalizer", "callback", "bare_except"])
def test_an_interrupt_that_python_swallows_is_raised_again(code):
    with program("python") as p:
        p.run(BUSY)
        reply = interrupted_after(p, 0.1, code)
        assert "Error in callback" not in reply["stdout"] and "Exception ignored" not in reply["stderr"]
        p.run("get_ipython().events.callbacks['post_run_cell'].clear()")
        assert p.run("print(6 * 7)")["stdout"] == "42\n"
