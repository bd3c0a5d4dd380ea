"""root after a login: a leaf with strangers in it, where v2 lets nobody switch on a controller."""
import pytest

import places
from harness import run_py


def test_ground_no_controller_can_be_switched_on_here():
    assert len(places.read("session.scope/cgroup.procs").split()) >= 2
    with pytest.raises(OSError):
        places.enable("session.scope")


def test_busy_leaf_still_gets_level_jar(host):
    places.assert_every_limit(run_py("pass"), "jar")


def test_strangers_stay_where_they_are():
    before = places.read("session.scope/cgroup.procs").split()
    run_py("pass")
    assert set(before) <= set(places.read("session.scope/cgroup.procs").split())
    assert places.own() == "session.scope"
