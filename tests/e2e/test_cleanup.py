"""Everything is cleaned up, in whichever order the processes die (R4.5)."""

import contextlib
import os
import signal
import subprocess
import time

import pytest

from harness import BELLJAR, belljar, eventually, run_py, start
from hostview import cgroups, descendants, process, processes

PRINTS = 8
SLEEPER = "import os, time\nfor _ in range(3): os.fork()\nos.write(1, b'go\\n')\ntime.sleep(120)"


@pytest.fixture(params=["jar", "rootless", "process"])
def level(request, here):
    """Each level that this machine has, in turn."""
    order = ["process", "rootless", "jar"]
    if order.index(request.param) > order.index(here.level):
        pytest.skip(f"level {request.param} is not to be had here")
    return request.param


def sleeper(level):
    return start(SLEEPER, json=False, timeout="100s", isolation=level)


def wait_for_all(running):
    for _ in range(PRINTS):
        assert running.read_line() == "go"


class Family:
    """The processes of a running belljar."""

    def __init__(self, running):
        table = processes()
        self.all = [p for p in descendants(running.pid, table) if p.pid != running.pid]
        children = [p for p in self.all if p.ppid == running.pid]
        self.warden = next(p for p in children if p.comm == "belljar-warden")
        self.keeper = next(p for p in children if p.comm != "belljar-warden")
        self.init = next((p for p in self.all if p.inner_pid == 1 and p.ppid == self.warden.pid), None)
        numbers = {str(running.pid), str(self.warden.pid)}
        self.cgroups = {c for c in cgroups() if os.path.basename(c).split("-")[1] in numbers}

    def alive(self):
        return [p for p in self.all if (now := process(p.pid)) and now.start == p.start and now.state != "Z"]


def test_nothing_is_left_when_belljar_is_killed(host, level):
    with sleeper(level) as running:
        wait_for_all(running)
        family = Family(running)
        assert len(family.all) >= PRINTS
        os.kill(running.pid, signal.SIGKILL)
        running.popen.wait(10)
        assert eventually(lambda: not family.alive(), 10), family.alive()


def kill_part(level, who):
    with sleeper(level) as running:
        wait_for_all(running)
        family = Family(running)
        os.kill(getattr(family, who).pid, signal.SIGKILL)
        result = running.finish(within=20)
        assert result.status == 125 and result.message.startswith("belljar"), result
        assert not family.alive(), family.alive()
        assert not family.cgroups & cgroups(), family.cgroups & cgroups()


def test_nothing_is_left_when_the_warden_is_killed(host, level):
    """The command ends with its own failure; processes and cgroups are gone when it has."""
    kill_part(level, "warden")


def test_nothing_is_left_when_the_keeper_is_killed(host, level):
    """The same."""
    kill_part(level, "keeper")


def test_nothing_is_left_when_the_jars_first_process_is_killed(host, sealed):
    """Pid 1 of the jar, by somebody on the host: the run is over."""
    with sleeper("auto") as running:
        wait_for_all(running)
        family = Family(running)
        os.kill(family.init.pid, signal.SIGKILL)
        assert running.finish(within=20).status != 0
        assert not family.alive(), family.alive()


def test_stopped_belljar_still_ends_by_kill(host, level):
    with sleeper(level) as running:
        wait_for_all(running)
        family = Family(running)
        os.kill(running.pid, signal.SIGSTOP)
        os.kill(running.pid, signal.SIGKILL)
        running.popen.wait(10)
        assert eventually(lambda: not family.alive(), 10), family.alive()


def test_nothing_is_left_when_killed_during_start(host, level):
    """The kill comes at any moment of the start. Processes end by themselves. An empty cgroup that nobody could
    remove is removed by the next run."""
    for delay_us in range(0, 20000, 500):
        with sleeper(level) as running:
            time.sleep(delay_us / 1e6)
            os.kill(running.pid, signal.SIGKILL)
            running.popen.wait(10)
    assert run_py("pass", isolation=level).verdict == "ok"


def test_the_next_run_sweeps_what_nobody_was_left_to_remove(host, sealed):
    """All of belljar killed at one blow."""
    with sleeper("auto") as running:
        wait_for_all(running)
        family = Family(running)
        for pid in (running.pid, *(p.pid for p in family.all)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        running.popen.wait(10)
        assert eventually(lambda: not family.alive(), 10), family.alive()
    assert run_py("pass").verdict == "ok"
    assert eventually(lambda: not family.cgroups & cgroups(), 5), family.cgroups & cgroups()


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
        code = """\
import os
for fd in range(4096):
    try: os.fstat(fd); print(fd, end=' ')
    except OSError: pass
"""
        done = subprocess.run([BELLJAR, "run", "-l", "python", "-"], input=code.encode(), capture_output=True,
                              timeout=60,
                              close_fds=False)
        assert done.stdout == b"0 1 2 ", done
    finally:
        os.close(r)
        os.close(w)


def test_belljar_without_arguments_starts_nothing(host):
    assert belljar("run").status == 64
