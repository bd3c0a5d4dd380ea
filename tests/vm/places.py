"""Cgroups of v2 as the tests of this folder make and look at them."""
import contextlib
import os
import subprocess
import time

TOP = "/sys/fs/cgroup"
CONTROLLERS = ("cpu", "memory", "pids")
CGROUP_LAYERS = {"cgroup_" + c for c in CONTROLLERS}
# Held by cgroups alone.
CGROUP_LIMITS = {"memory", "pids", "cpu_percent"}


def read(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as f:
        return f.read()


def write(text, *path):
    with open(os.path.join(TOP, *path), "w", encoding="utf-8") as f:
        f.write(text)


def enable(cgroup, controllers=CONTROLLERS):
    write(" ".join("+" + c for c in controllers), cgroup, "cgroup.subtree_control")


def own():
    """The path of our own cgroup, from the mount on."""
    with open("/proc/self/cgroup", encoding="utf-8") as f:
        return f.read().strip().removeprefix("0::/")


def below(cgroup):
    """Every cgroup below, by its path from there."""
    top = os.path.join(TOP, cgroup)
    return {os.path.relpath(os.path.join(path, d), top) for path, dirs, _ in os.walk(top) for d in dirs}


def standing_in(cgroup):
    """A prefix that moves the command behind it into the cgroup, before it is executed."""
    return ["sh", "-c", 'echo 0 > "$0" && exec "$@"', os.path.join(TOP, cgroup, "cgroup.procs")]


@contextlib.contextmanager
def made(*cgroups):
    """The cgroups, made in this order; gone afterwards with everything below them."""
    for cgroup in cgroups:
        os.mkdir(os.path.join(TOP, cgroup))
    try:
        yield cgroups[-1]
    finally:
        for cgroup in reversed(cgroups):
            for child in sorted(below(cgroup), reverse=True):
                os.rmdir(os.path.join(TOP, cgroup, child))
            os.rmdir(os.path.join(TOP, cgroup))


@contextlib.contextmanager
def stranger_in(cgroup):
    """Somebody else's process in the cgroup."""
    with subprocess.Popen([*standing_in(cgroup), "sleep", "infinity"]) as process:
        try:
            while str(process.pid) not in read(cgroup, "cgroup.procs").split():
                assert process.poll() is None, f"cannot enter {cgroup}"
                time.sleep(0.01)
            yield process.pid
        finally:
            process.kill()


def assert_every_limit(result, level):
    isolation = result.json["isolation"]
    assert isolation["level"] == level, isolation
    assert CGROUP_LAYERS <= set(isolation["layers"]), isolation
    assert isolation["unenforced"] == [], isolation
