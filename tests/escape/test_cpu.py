"""CPU: spinning threads and processes get their share and no more."""

import pytest

from harness import BRIEF, BRIEF_MS, SLACK_MS, run_py, run_sh, soonest

SPIN_AND_WAIT = """
import os, time
children = []
for _ in range(7):
    pid = os.fork()
    if pid == 0: break
    children.append(pid)
end = time.monotonic() + 2
while time.monotonic() < end: pass
for c in children: os.waitpid(c, 0)
"""


@pytest.mark.release_only
@pytest.mark.parametrize("percent", [20, 50, 100])
def test_spinning_processes_get_their_quota(needs, percent):
    """R3.1: the whole tree together"""
    needs("cpu_percent")
    result = run_py(SPIN_AND_WAIT, cpu_percent=percent, timeout="40s", cpu_time="60s")
    assert result.verdict == "ok", result
    share = 100 * result.usage["cpu_ms"] / result.usage["wall_ms"]
    assert share <= percent * 1.25 + 10, (share, result.usage)


def test_cpu_time_is_counted_over_all_processes(needs):
    needs("cpu_ms")
    result = run_py("""\
import os
for _ in range(3): os.fork()
while True: pass""", cpu_percent=200, cpu_time=BRIEF, timeout="40s")
    assert (result.verdict, result.status) == ("cpu_timeout", 124), result
    assert result.usage["cpu_ms"] <= 3 * BRIEF_MS


def test_cpu_limit_cannot_be_caught(needs):
    """SIGXCPU ignored, priorities changed: the end comes all the same."""
    code = """
import os, signal, resource
for n in range(1, 65):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
try: resource.setrlimit(resource.RLIMIT_CPU, (-1, -1))
except (OSError, ValueError): pass
print("go", flush=True)
while True: pass
"""
    result = run_py(code, cpu_time=BRIEF, timeout="40s")
    assert (result.verdict, result.stdout) == ("cpu_timeout", "go\n"), result


def test_throttled_tree_is_gone_at_its_deadline(needs):
    """A jar that has used up its quota still dies at once."""
    needs("cpu_percent")
    code = "for i in 1 2 3 4 5 6 7 8; do (while :; do :; done) & done; wait"
    result = soonest(lambda: run_sh(code, cpu_percent=1, timeout="2s"), 2000)
    assert result.verdict == "timeout" and result.usage["wall_ms"] <= 2000 + SLACK_MS, result


def test_realtime_priority_is_refused():
    from harness import attack, let_through

    found, _ = attack("""
for policy in (1, 2, 6):
    parameter = struct.pack("i", 1 if policy != 6 else 0)
    found[f"policy {policy}"] = sys_call(144, 0, policy, ctypes.c_char_p(parameter))
found["nice"] = attempt(os.nice, -1)
found["io"] = sys_call(251, 1, 0, 1 << 13)
""")
    assert not let_through(found), found
