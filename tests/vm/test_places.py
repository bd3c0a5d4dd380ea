"""Other places people start belljar in; root makes each of them and puts belljar there."""
import contextlib
import os

import pytest

import places
from harness import run_py

NESTED = ("user.slice", "user.slice/user-0.slice", "user.slice/user-0.slice/session-1.scope")
TESTER = 1000


@pytest.mark.parametrize("controllers", [("memory", "pids"), places.CONTROLLERS], ids=" ".join)
def test_session_nested_as_systemd_nests_it_gets_level_jar(host, controllers):
    """systemd hands the slices memory and pids, cpu only when a unit asks for it."""
    with places.made(*NESTED) as scope:
        for parent in NESTED[:-1]:
            places.enable(parent, controllers)
        with places.stranger_in(scope):
            places.assert_every_limit(run_py("pass", prefix=places.standing_in(scope)), "jar")


def test_service_with_a_cgroup_of_its_own_gets_level_jar(host):
    """As a unit's only process; afterwards nothing of ours is in the unit's cgroup."""
    with places.made("belljar.service") as service:
        places.assert_every_limit(run_py("pass", prefix=places.standing_in(service)), "jar")
        assert places.below(service) == set()


@pytest.mark.parametrize("busy", [False, True], ids=["alone", "busy"])
def test_container_that_sees_its_cgroup_as_the_root_tells_the_truth(host, busy):
    """A cgroup namespace of its own: `/` is not the root, and has no parent. The limits may depend on other processes
    in it. In every case they are enforced, or named as not enforced."""
    inside = ["unshare", "--cgroup", "--mount", "sh", "-c",
              'umount /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"', "sh"]
    with places.made("container") as container, \
            (places.stranger_in(container) if busy else contextlib.nullcontext()):
        result = run_py("pass", prefix=[*places.standing_in(container), *inside])
        isolation = result.json["isolation"]
        held = places.CGROUP_LAYERS <= set(isolation["layers"])
        assert held == (not places.CGROUP_LIMITS & set(isolation["unenforced"])), isolation
        if not busy:
            places.assert_every_limit(result, "jar")


def test_part_of_the_controllers_gives_part_of_the_limits(host):
    """Some machines give their users memory and pids without cpu: the first two are enforced, and cpu is named as not
    enforced."""
    with places.made("users", "users/given", "users/given/shell") as shell:
        places.enable("users", ("memory", "pids"))
        for path in ("", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"):
            os.chown(os.path.join(places.TOP, "users/given", path), TESTER, TESTER)
        as_tester = ["setpriv", f"--reuid={TESTER}", f"--regid={TESTER}", "--clear-groups"]
        with places.stranger_in(shell):
            result = run_py("pass", prefix=[*places.standing_in(shell), *as_tester])
        isolation = result.json["isolation"]
        assert isolation["level"] == "rootless"
        assert places.CGROUP_LAYERS & set(isolation["layers"]) == {"cgroup_memory", "cgroup_pids"}, isolation
        assert places.CGROUP_LIMITS & set(isolation["unenforced"]) == {"cpu_percent"}, isolation
