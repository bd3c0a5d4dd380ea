"""An ordinary user without a subtree of their own, as after a login by ssh."""
import os

import pytest

import places
from harness import belljar, run_py


def test_ground_no_cgroup_can_be_made():
    for parent in (places.own(), "."):
        with pytest.raises(PermissionError):
            os.mkdir(os.path.join(places.TOP, parent, "ground"))


def test_limits_that_need_cgroups_are_told_as_unenforced(host):
    isolation = run_py("pass").json["isolation"]
    assert isolation["level"] == "rootless"
    assert not places.CGROUP_LAYERS & set(isolation["layers"])
    assert places.CGROUP_LIMITS <= set(isolation["unenforced"]), isolation


def test_doctor_tells_the_same():
    result = belljar("doctor", "--json")
    assert result.status == 0, result
    print(result.out.decode())
