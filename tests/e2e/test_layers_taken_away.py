"""Fail closed: a machine that lacks one layer gets a refusal, not a weaker jar."""

import os

import pytest

from harness import deny, run_py

# layer -> the system calls that make it
TAKEN = {
    "landlock": "landlock_restrict_self",
    "landlock rules": "landlock_add_rule",
    "seccomp": "seccomp,prctl:22",
    "no_new_privs": "prctl:38",
    "capabilities": "capset",
    "capability bounding set": "prctl:24",
    "rlimits": "prlimit64,setrlimit",
    "root": "pivot_root",
    "mounts": "move_mount",
    "mounts of files": "open_tree",
    "mount file systems": "fsopen",
    "read-only mounts": "mount_setattr",
    "old mounts": "umount2",
    "uid": "setresuid,setuid",
    "gid": "setresgid,setgid",
    "descriptors": "close_range",
    "namespaces": "clone3:EPERM,clone:newuser",
    "joining them": "setns",
    "host name": "sethostname",
    "session": "setsid",
    "file names": "openat2",
}


def assert_refused(result):
    assert result.status == 125, result
    assert b"STARTED" not in result.out + result.err, result
    assert result.message.startswith("belljar") and result.message.count("\n") == 0, result


@pytest.fixture
def demanded(here, sealed):
    """The level this machine has in full health, demanded so that no weaker one is taken."""
    return here.level


def needing_release(layers):
    """Without prlimit a sanitized binary does not even come to its main()."""
    return [pytest.param(x, marks=pytest.mark.release_only) if x == "rlimits" else x for x in layers]


@pytest.mark.parametrize("layer", needing_release(TAKEN))
def test_no_jar_without(host, here, demanded, layer):
    if layer.split()[0] == "landlock" and "landlock" not in here.layers:
        pytest.skip("the kernel has no Landlock")
    result = run_py("print('STARTED')", json=False, isolation=demanded, prefix=deny(TAKEN[layer]))
    assert_refused(result)


@pytest.mark.parametrize("layer",
                         needing_release(["seccomp", "no_new_privs", "capabilities", "rlimits", "descriptors", "uid"]))
def test_no_run_at_any_level_without(host, layer):
    """Even the weakest level promises these."""
    result = run_py("print('STARTED')", json=False, prefix=deny(TAKEN[layer]))
    if result.status == 0 and layer == "uid":
        pytest.skip("level process keeps the caller's uid")
    assert_refused(result)


def test_control_nothing_taken_runs(demanded):
    """The tool itself does not get in the way."""
    result = run_py("print('STARTED')", json=False, isolation=demanded, prefix=deny("chroot"))
    assert (result.status, result.out) == (0, b"STARTED\n"), result


def hide(script):
    """Run belljar in a mount namespace of its own in which `script` was done to the cgroup file systems."""
    return ["unshare", "-m", "--propagation", "private", "sh", "-ec", script + '\nexec "$@"', "sh"]


HIDINGS = {
    "hidden": "mount -t tmpfs none /sys/fs/cgroup",
    "unmounted": "grep -E ' - cgroup2? ' /proc/self/mountinfo | cut -d' ' -f5 | xargs -n1 umount -l",
    "read-only": "grep -E ' - cgroup2? ' /proc/self/mountinfo | cut -d' ' -f5 | xargs -n1 mount -o remount,bind,ro",
}


@pytest.mark.parametrize("how", HIDINGS)
def test_no_jar_without_cgroups(host, whole_jar, how):
    result = run_py("print('STARTED')", json=False, isolation="jar", prefix=hide(HIDINGS[how]))
    assert_refused(result)
    assert "cgroup" in result.message


@pytest.mark.parametrize("controller", ["memory", "pids", "cpu"])
def test_no_jar_without_one_controller(host, whole_jar, controller):
    script = f"mount -o remount,bind,ro /sys/fs/cgroup/{controller}"
    if not os.path.ismount(f"/sys/fs/cgroup/{controller}"):
        pytest.skip("cgroup v2 has one hierarchy for all")
    assert_refused(run_py("print('STARTED')", json=False, isolation="jar", prefix=hide(script)))


def test_without_cgroups_the_level_is_a_weaker_one_and_says_so(host, whole_jar):
    result = run_py("print('STARTED')", prefix=hide(HIDINGS["hidden"]))
    assert result.verdict == "ok" and result.level == "rootless", result
    assert "memory" in result.json["isolation"]["unenforced"]
    assert not [layer for layer in result.json["isolation"]["layers"] if layer.startswith("cgroup_")
                and layer != "cgroup_ns"]
