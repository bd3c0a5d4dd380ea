"""An ordinary user without a subtree of their own, as after a login by ssh."""
import json
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
    doctor = json.loads(belljar("doctor", "--json").out)
    assert doctor["level"] == "rootless", doctor
    rootless = next(row for row in doctor["levels"] if row["level"] == "rootless")
    assert rootless["available"] and places.CGROUP_LIMITS <= set(rootless["unenforced"]), rootless


def test_doctor_says_how_to_get_a_subtree():
    text = belljar("doctor").out.decode()
    assert "cgroup" in text and "Delegate" in text, text
