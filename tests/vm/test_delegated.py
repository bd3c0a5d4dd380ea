"""An ordinary user whose shell is a leaf of a subtree that root gave away, as in a desktop's app.slice."""
import json

import pytest

import places
from harness import belljar, run_py


@pytest.fixture(autouse=True)
def subtree_as_it_was_given():
    """Controllers on for the children would hide from the next test whether belljar switches them on itself."""
    yield
    places.write(" ".join("-" + c for c in places.CONTROLLERS), "delegated/cgroup.subtree_control")


def test_ground_subtree_takes_children_with_limits():
    places.enable("delegated")
    with places.made("delegated/ground") as child:
        places.write("8388608", child, "memory.max")
        with places.stranger_in(child):
            assert places.read(child, "memory.max") == "8388608\n"


def test_ground_root_cgroup_is_out_of_reach():
    with pytest.raises(PermissionError):
        places.write("+cpu", "cgroup.subtree_control")


def test_delegated_subtree_gives_every_limit(host):
    places.assert_every_limit(run_py("pass"), "rootless")
    assert places.below("delegated") == {"shell"}


def test_memory_limit_holds_for_the_whole_tree():
    code = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        hoard = b"x" * (30 << 20)
        time.sleep(30)
time.sleep(30)
"""
    result = run_py(code, memory="64m", timeout="60s")
    assert result.verdict == "memory_limit", result
    assert result.status == 137


def test_process_limit_holds_for_the_whole_tree():
    code = """
import os, time
for _ in range(40):
    if os.fork() == 0:
        time.sleep(30)
"""
    result = run_py(code, pids=16, timeout="60s")
    assert result.verdict == "process_limit", result
    assert "pids" in result.hits


def test_cpu_quota_holds_for_the_whole_tree():
    code = """
import os, time
for _ in range(2):
    if os.fork() == 0:
        while True: pass
time.sleep(4)
os.kill(-1, 9)
"""
    usage = run_py(code, cpu_percent=50, timeout="60s").usage
    assert usage["cpu_ms"] <= 0.7 * usage["wall_ms"], usage


def test_scope_of_its_own_gives_every_limit(host):
    """systemd-run --user --scope -p Delegate=yes belljar run: alone in the cgroup that was given."""
    places.enable("delegated")
    with places.made("delegated/run.scope") as scope:
        places.assert_every_limit(run_py("pass", prefix=places.standing_in(scope)), "rootless")
        assert places.below(scope) == set()


def test_doctor_finds_the_delegated_subtree():
    doctor = json.loads(belljar("doctor", "--json").out)
    assert (doctor["level"], doctor["cgroup_version"]) == ("rootless", 2), doctor
    rootless = next(row for row in doctor["levels"] if row["level"] == "rootless")
    assert rootless["available"] and rootless["unenforced"] == [], rootless
    assert places.CGROUP_LAYERS <= set(rootless["layers"])
