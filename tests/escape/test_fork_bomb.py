"""Fork bombs of every kind: bounded by the process limit, gone at the deadline, nothing left."""

import pytest

from harness import BRIEF_MS, SLACK_MS, given_time, run_py, run_sh, soonest, tool

IGNORE = """
import os, signal, sys, time
def harden():
    for n in range(1, 65):
        try: signal.signal(n, signal.SIG_IGN)
        except (OSError, ValueError): pass
harden()
print("go", flush=True)
"""
KINDS = {
    "plain": "while True:\n    try: os.fork()\n    except OSError: pass",
    "double fork": """
while True:
    try:
        if os.fork() == 0:
            os.fork(); os.fork()
    except OSError: pass
""",
    "new sessions": """
while True:
    try:
        if os.fork() == 0:
            os.setsid(); harden()
    except OSError: pass
""",
    "stopped": """
while True:
    try:
        if os.fork() == 0: os.kill(os.getpid(), signal.SIGSTOP)
    except OSError: pass
""",
    "vfork": """
import ctypes
while True:
    try: os.posix_spawn("/bin/bash", ["bash", "-c", "trap '' 1 2 3 15; while :; do sleep 100 & done"], {})
    except OSError: pass
""",
    "threads": """
import threading
def spin():
    while True:
        try: threading.Thread(target=spin).start()
        except RuntimeError: pass
spin()
""",
    "parent exits": """
while True:
    try:
        if os.fork() != 0: (os._exit(0) if os.getpid() != first else None)
    except OSError: pass
""",
    "zombies": """
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
while True:
    try:
        if os.fork() == 0: os._exit(0)
    except OSError: pass
""",
}


@pytest.mark.parametrize("kind", KINDS)
def test_bomb_is_gone_at_its_deadline(needs, kind):
    """Within 100 ms of the deadline. The host scans the processes."""
    needs("pids")
    code = IGNORE + "first = os.getpid()\n" + KINDS[kind]
    result = given_time(lambda ms: soonest(lambda: run_py(code, timeout=f"{ms}ms", cpu_time="60s", cpu_percent=200,
                                                          pids=64), ms))
    assert result.stdout.startswith("go\n"), result
    assert (result.verdict, result.status) == ("timeout", 124), result
    assert "pids" in result.hits or kind in ("vfork", "parent exits"), result
    assert result.usage["wall_ms"] <= result.json["limits"]["wall_ms"] + SLACK_MS, result.usage
    assert result.usage["pids_peak"] <= 64 + 2


def test_bomb_that_kills_everything_it_can(needs, here):
    """The program is hit by its own children; the bystanders are the host's concern and unhurt."""
    needs("pids")
    code = """\
while True:
    try:
        if os.fork() == 0: os.kill(-1, 9 if own_pids else 0)
    except OSError: pass"""
    result = run_py(IGNORE + "own_pids = os.getppid() == 0\n" + code, timeout=f"{5 * BRIEF_MS}ms")
    if here.level == "process":  # where -1 would be the host's processes too, and is refused
        assert result.verdict == "timeout", result
    else:
        assert result.verdict in ("runtime_error", "process_limit") and result.json["signal"] == "SIGKILL", result


def test_classic_bash_bomb(needs):
    needs("pids")
    result = run_sh(":(){ :|:& };:\nsleep 30", timeout=f"{2 * BRIEF_MS}ms", cpu_time="60s")
    assert result.verdict in ("timeout", "process_limit") and "pids" in result.hits, result


def test_nastiest_tree_is_gone_at_its_deadline(needs):
    """A fork bomb that ignores signals, a 100,000-level directory and a full disk, all at once."""
    needs("pids", "files", "disk")
    limits = dict(cpu_time="5m", cpu_percent=200, pids=128, files=150000, disk="32m", memory="1g")
    code = "cp nasty_tree n && chmod 755 n && exec ./n 100000"
    run = lambda ms: run_sh(code, file=[tool("nasty_tree")], within=200, timeout=f"{ms}ms", **limits)  # noqa: E731
    result = given_time(lambda ms: soonest(lambda: run(ms), ms), 8 * BRIEF_MS)
    assert "READY depth=100000 full=1" in result.stdout, result
    assert result.verdict == "timeout" and {"wall_ms", "pids", "disk"} <= set(result.hits), result
    assert result.usage["wall_ms"] <= result.json["limits"]["wall_ms"] + SLACK_MS, result.usage


def test_one_process_is_enough_for_a_limit_of_one(needs):
    needs("pids")
    result = run_py("import os\ntry: os.fork(); print('forked')\nexcept OSError as e: print(e.errno)", pids=1)
    assert result.stdout == "11\n" and result.hits == ["pids"], result
