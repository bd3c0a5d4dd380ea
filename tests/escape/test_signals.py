"""Signals from inside: kill -9 -1 hurts neither the host nor the machinery that gives the verdict."""

import subprocess

import pytest

from harness import BRIEF, PRELUDE, attack, run_py, run_sh, start


@pytest.fixture
def bystander():
    """A process of the host, of the caller's own user."""
    p = subprocess.Popen(["sleep", "120"])
    yield p
    alive = p.poll() is None
    p.kill()
    p.wait()
    assert alive, "a process of the host was hit"


def test_kill_everything_hits_only_the_jar(bystander):
    with start("print('go', flush=True)\nimport time\ntime.sleep(60)", json=False, timeout="50s") as neighbour:
        assert neighbour.read_line() == "go"
        result = run_py(PRELUDE + """
for n in (9, 15, 19, 1, 2, 6) if own_pids else (0,):
    attempt(os.kill, -1, n)
for pid in list(range(1, 300)) + [%d]:
    if pid != os.getpid() and own_pids:
        attempt(os.kill, pid, 9), attempt(os.kill, pid, 19)
attempt(os.kill, %d, 9)
print("still here", flush=True)
os._exit(3)
""" % (bystander.pid, bystander.pid))
        assert neighbour.popen.poll() is None
        neighbour.end()
    assert (result.verdict, result.status) == ("runtime_error", 3) and "still here" in result.stdout, result


def test_first_process_cannot_be_stopped_or_killed(sealed):
    found, run = attack("""
for n in range(1, 65): found[str(n)] = attempt(os.kill, 1, n)
for n in (9, 19): found[f"queue {n}"] = sys_call(129, 1, n, ctypes.c_char_p(bytes(128)))
time.sleep(0.2)
found["alive"] = os.fork() >= 0
""")
    assert found["alive"] and run.verdict in ("ok",), run


def test_stopping_oneself_is_ended_by_the_deadline(bystander):
    result = run_sh("echo go; kill -STOP $$; echo never", timeout=BRIEF)
    assert (result.verdict, result.stdout) == ("timeout", "go\n"), result


def test_process_group_of_belljar_cannot_be_reached(bystander):
    """Signals to group 0, to the parent and its group stay inside."""
    result = run_sh("kill -9 0; exit 1", timeout="10s")
    assert result.verdict == "runtime_error" and result.status in (1, 137), result
    result = run_py("""
import os
for p in (os.getppid(), -os.getppid()):  # 0: not in sight
    try: p and os.kill(p, 0) == print("in reach:", p)
    except OSError: pass
print("end")
""")
    assert result.verdict == "ok" and result.stdout == "end\n", result


def test_asking_for_signals_from_descriptors_reaches_nobody(bystander):
    """F_SETOWN on a shared pipe aims only at processes of one's own."""
    found, _ = attack("""
import fcntl
for fd in (0, 1, 2):
    for owner in (1, -1, os.getppid() or 1):
        found[f"{fd} {owner}"] = attempt(fcntl.fcntl, fd, 8, owner)
    found[f"{fd} async"] = attempt(fcntl.fcntl, fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | 0o20000)
print("x" * 10, flush=True)
""")
    assert found


LIMITS = """
import os, resource, time
def attempt(pid):
    try:
        resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1))
        return "set"
    except PermissionError:
        return "refused"
child = os.fork()
if child == 0:
    time.sleep(30)
print(attempt(1), attempt(child), resource.prlimit(0, resource.RLIMIT_NOFILE)[0] > 0)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
print(resource.getrlimit(resource.RLIMIT_FSIZE)[0], open("/proc/%d/limits" % child).read().count("Max cpu time"))
os.kill(child, 9)
"""


def test_program_changes_the_limits_of_no_other_process():
    """A CPU limit of one second on pid 1 of the jar would end the jar without a cause that the host knows."""
    result = run_py(LIMITS)
    assert result.verdict == "ok" and result.stdout == "refused refused True\n4096 1\n", result
