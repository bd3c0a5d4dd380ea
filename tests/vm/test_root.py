"""root in the root cgroup of a machine where nobody has switched on a controller yet."""
import os

import places
from harness import run_py, start


def test_root_gets_level_jar_with_every_limit(host):
    places.assert_every_limit(run_py("pass"), "jar")


def test_limits_of_the_jar_are_in_its_cgroup():
    """The promised limits are those in the kernel, seen from outside while the program runs."""
    with start("import sys, time\nprint(1, flush=True)\ntime.sleep(60)", json=False, memory="64m", pids=16,
               cpu_percent=50) as running:
        assert running.read_line() == "1"
        jars = [c for c in places.below("") if os.path.basename(c).startswith("jar-")]
        assert len(jars) == 1, jars
        assert places.read(jars[0], "memory.max") == f"{64 << 20}\n"
        assert places.read(jars[0], "memory.oom.group") == "1\n"
        assert 16 <= int(places.read(jars[0], "pids.max")) <= 18
        quota, period = places.read(jars[0], "cpu.max").split()
        assert int(quota) * 2 == int(period)
        assert places.read(jars[0], "cgroup.procs").split()
