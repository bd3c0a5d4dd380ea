"""The ground the other tests stand on: each stage is the place that guest-init says it is."""
import os
import platform

import places

STAGE = os.environ.get("BELLJAR_VM_STAGE")
CGROUP = {"root": "", "session": "session.scope", "delegated": "delegated/shell", "undelegated": "plain.scope"}


def test_kernel_is_debians():
    assert platform.release().startswith("6.1.0-"), platform.release()
    assert "Debian" in places.read("/proc/version")


def test_cgroup_v2_is_the_only_hierarchy():
    kinds = [line.split(" - ")[1].split()[0] for line in places.read("/proc/self/mountinfo").splitlines()]
    assert kinds.count("cgroup2") == 1
    assert "cgroup" not in kinds


def test_root_cgroup_has_every_controller():
    assert set(places.CONTROLLERS) <= set(places.read("cgroup.controllers").split())


def test_shell_stands_in_the_cgroup_of_its_stage():
    assert places.own() == CGROUP[STAGE]


def test_user_is_the_one_of_the_stage():
    assert os.getuid() == (0 if STAGE in ("root", "session") else 1000)


def test_landlock_is_on():
    assert "landlock" in places.read("/sys/kernel/security/lsm").strip().split(",")
