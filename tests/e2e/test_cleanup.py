"""Everything is cleaned up, whoever dies first (R4.5)."""

import contextlib
import os
import signal
import time

import pytest

from harness import belljar, eventually, run_py, start
from hostview import cgroups, descendants, own_depth, process, processes

SLEEPER = "import os, time\nfor _ in range(3): os.fork()\nos.write(1, b'go\\n')\ntime.sleep(120)"
PRINTS = 8


def family_of(running):
    """(warden, keeper or None, everything below main) of a running belljar."""
    table = processes()
    below = [p for p in descendants(running.pid, table) if p.pid != running.pid]
    children = [p for p in below if p.ppid == running.pid]
    wardens = [p for p in children if p.depth == own_depth() + 1 and p.inner_pid == 1]
    keepers = [p for p in children if p.depth == own_depth()]
    assert wardens or keepers, below
    return (wardens or [None])[0], (keepers or [None])[0], below


def alive(family):
    return [p for p in family if (now := process(p.pid)) and now.start == p.start and now.state != "Z"]


def cgroups_of(running):
    """The cgroups of this run, known by the number in their name."""
    numbers = {str(p.pid) for p in descendants(running.pid)}
    return {c for c in cgroups() if os.path.basename(c).split("-")[1] in numbers}


def sleeper():
    return start(SLEEPER, json=False, timeout="100s")


def wait_for_all(running):
    for _ in range(PRINTS):
        assert running.read_line() == "go"


def test_nothing_is_left_when_belljar_is_killed(host):
    with sleeper() as running:
        wait_for_all(running)
        _, _, family = family_of(running)
        assert len(family) >= PRINTS
        os.kill(running.pid, signal.SIGKILL)
        running.popen.wait(10)
        assert eventually(lambda: not alive(family), 10), alive(family)


def test_nothing_is_left_when_the_warden_is_killed(host):
    """and the command ends with its own failure; its cgroups are gone when it has"""
    with sleeper() as running:
        wait_for_all(running)
        warden, _, family = family_of(running)
        if warden is None:
            pytest.skip("level process has no warden in a namespace of its own")
        own = cgroups_of(running)
        os.kill(warden.pid, signal.SIGKILL)
        result = running.finish(within=20)
        assert result.status == 125 and result.message.startswith("belljar"), result
        assert not alive(family), alive(family)
        assert not own & cgroups(), own & cgroups()


def test_nothing_is_left_when_the_keeper_is_killed(host):
    with sleeper() as running:
        wait_for_all(running)
        _, keeper, family = family_of(running)
        if keeper is None:
            pytest.skip("there is no keeper process beside main and warden")
        os.kill(keeper.pid, signal.SIGKILL)
        result = running.finish(within=20)
        assert result.status == 125 and result.message.startswith("belljar"), result
        assert eventually(lambda: not alive(family), 10), alive(family)


def test_nothing_is_left_when_the_jars_first_process_is_killed(host):
    """Pid 1 of the jar, by somebody on the host."""
    with sleeper() as running:
        wait_for_all(running)
        _, _, family = family_of(running)
        inits = [p for p in family if p.inner_pid == 1 and p.depth > own_depth() + 1]
        if not inits:
            pytest.skip("no jar of its own here")
        os.kill(inits[0].pid, signal.SIGKILL)
        result = running.finish(within=20)
        assert result.status not in (0, None), result
        assert not alive(family), alive(family)


def test_stopped_belljar_still_ends_by_kill(host):
    with sleeper() as running:
        wait_for_all(running)
        _, _, family = family_of(running)
        os.kill(running.pid, signal.SIGSTOP)
        os.kill(running.pid, signal.SIGKILL)
        running.popen.wait(10)
        assert eventually(lambda: not alive(family), 10), alive(family)


def test_nothing_is_left_when_killed_during_start(host):
    """At whatever moment. Processes end by themselves; an empty cgroup that nobody was there to remove goes with the next
    run."""
    for delay_us in range(0, 20000, 400):
        with sleeper() as running:
            time.sleep(delay_us / 1e6)
            os.kill(running.pid, signal.SIGKILL)
            running.popen.wait(10)
    assert run_py("pass").verdict == "ok"


def test_dead_runs_are_swept_by_the_next(host):
    """R4.5 cleanup: what a killed belljar could not remove itself, the next run does"""
    with sleeper() as running:
        wait_for_all(running)
        own, (warden, _, family) = cgroups_of(running), family_of(running)
        for p in (running.pid, *(p.pid for p in [warden, *family] if p)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(p, signal.SIGKILL)
        running.popen.wait(10)
        assert eventually(lambda: not alive(family), 10), alive(family)
    assert run_py("pass").verdict == "ok"
    assert eventually(lambda: not own & cgroups(), 5), own & cgroups()


def test_thirty_in_a_row_leave_nothing(host):
    for i in range(30):
        assert run_py(f"print({i})", json=False).out == f"{i}\n".encode()


def test_forty_at_once_all_succeed_and_leave_nothing(host):
    """Each writes, forks and fills a little."""
    code = "import os, subprocess\nopen('f', 'w').write('x' * 100000)\nprint(subprocess.check_output(['echo', 'hi']))"
    running = [start(code, timeout="60s", cpu_time="60s") for _ in range(40)]
    try:
        for r in running:
            result = r.finish(within=120)
            assert (result.verdict, result.stdout) == ("ok", "b'hi\\n'\n"), result
    finally:
        for r in running:
            r.__exit__()


def test_descriptors_of_the_caller_are_not_inherited(host):
    """belljar itself may be started with anything open."""
    r, w = os.pipe()
    os.set_inheritable(w, True)
    try:
        code = "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))"
        import subprocess

        from harness import BELLJAR

        done = subprocess.run([BELLJAR, "run", "-l", "python", "-"], input=code.encode(), capture_output=True, timeout=30,
                              close_fds=False)
        assert done.stdout == b"[0, 1, 2, 3]\n", done  # 3 is listdir's own
    finally:
        os.close(r)
        os.close(w)


def test_belljar_without_arguments_starts_nothing(host):
    assert belljar("run").status == 64
