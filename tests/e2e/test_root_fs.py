"""The jar's file system: a read-only root, a bounded /sandbox and /tmp, nothing kept (R4.3, R1.13)."""

import os
import re

import pytest

from harness import attack, run_py, run_sh

pytestmark = pytest.mark.usefixtures("sealed")

WRITE = """
def write(path):
    with open(path, "w") as f: f.write("x")
    return "written"
for path in ("/etc/x", "/x", "/usr/x", "/usr/bin/x", "/bin/x", "/lib/x", "/dev/x", "/sandbox/x", "/tmp/x",
             "/dev/shm/x"):
    found[path] = attempt(write, path)
"""
WRITABLE = {"/sandbox/x", "/tmp/x", "/dev/shm/x"}


def written(found):
    return {path for path, outcome in found.items() if outcome.startswith("ok")}


def test_only_sandbox_and_tmp_are_writable():
    """R4.3"""
    found, _ = attack(WRITE)
    assert written(found) == WRITABLE, found


def test_writable_root_is_writable_but_for_the_runtime():
    """R4.3: read_only false"""
    found, _ = attack(WRITE, writable_root=True)
    assert written(found) >= WRITABLE | {"/etc/x", "/x"}, found
    assert not written(found) & {"/usr/x", "/usr/bin/x", "/bin/x", "/lib/x"}, found


def test_writable_root_is_thrown_away():
    """R4.3, R1.13"""
    import os

    inside = "test -e /root -o -e /sys && exit 9; "  # not in a root of our own: hands off
    run_sh(inside + "echo changed > /etc/hostname; echo mine > /jartest-root; rm -f /etc/passwd", writable_root=True)
    assert not os.path.exists("/jartest-root") and os.path.getsize("/etc/passwd") > 0
    result = run_sh("ls /jartest-root; cat /etc/passwd", writable_root=True)
    assert "mine" not in result.stdout and "sandbox" in result.stdout, result


def test_writable_root_is_bounded(needs):
    """R3.1: the root counts into the disk limit like everything else, but for the 256 KiB that its own files get"""
    needs("disk")
    result = run_sh("head -c 2m /dev/zero > /etc/big; stat -c %s /etc/big; exit 0", writable_root=True, disk="1m")
    assert int(result.stdout or 0) <= (1 << 20) + (256 << 10) and result.hits == ["disk"], result


def test_two_runs_share_nothing():
    """R1.13"""
    leave = """
import os, socket
for d in ("/sandbox", "/tmp", "/dev/shm", "."):
    open(d + "/left-by-another", "w").write("x")
"""
    look = """
for d in ("/sandbox", "/tmp", "/dev/shm", "."):
    found[d] = sorted(os.listdir(d))
"""
    assert run_py(leave).verdict == "ok"
    found, _ = attack(look)
    assert found == {"/sandbox": ["main.py"], "/tmp": [], "/dev/shm": [], ".": ["main.py"]}


def test_sandbox_and_tmp_share_one_limit(needs):
    """R3.1: moving on to the next directory wins no space"""
    needs("disk")
    code = """
for d in ("/sandbox", "/tmp", "/dev/shm"):
    try:
        with open(d + "/f", "wb", buffering=0) as f:
            while True: f.write(b"x" * 4096)
    except OSError: pass
    found[d] = os.path.getsize(d + "/f")
"""
    found, _ = attack(code, disk="1m")
    assert sum(found.values()) <= 1 << 20 and max(found.values()) >= 500 << 10, found


def test_user_is_an_ordinary_one_with_a_name():
    code = """
import pwd, grp
found["uid"] = os.getuid(), os.geteuid(), os.getgid(), os.getegid()
found["groups"] = os.getgroups()
found["name"] = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name, os.path.expanduser("~")
found["hostname"] = socket.gethostname()
"""
    found, _ = attack(code)
    assert found["uid"] == [1000, 1000, 1000, 1000] and set(found["groups"]) <= {1000, 65534}
    assert found["name"] == ["sandbox", "sandbox", "/sandbox"] and found["hostname"] == "belljar"


def test_every_mount_is_nosuid_and_nodev_or_harmless():
    """No mount of a jar honours setuid bits, and only /dev has devices."""
    code = """
for line in open("/proc/self/mountinfo"):
    left, right = line.split(" - ")
    found[left.split()[4]] = left.split()[5].split(",") + [right.split()[0]]
"""
    found, _ = attack(code)
    for where, flags in found.items():
        assert "nosuid" in flags, (where, flags)
        assert "nodev" in flags or where.startswith("/dev"), (where, flags)
        assert "ro" in flags or where in ("/sandbox", "/tmp", "/dev/shm",
                                          "/proc") or where.startswith("/dev/"), (where, flags)


def test_root_holds_the_runtime_and_nothing_of_the_host():
    """R4.3"""
    found, _ = attack("for d in ('root', 'etc', 'home', 'run', 'var', 'mnt'):\n"
                      "    found[d] = os.listdir('/' if d == 'root' else '/' + d)")
    assert set(found["root"]) <= {"bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "proc", "run",
                                  "sandbox", "sbin", "tmp", "usr", "var", "opt", "mnt"}
    found["etc"] = [name for name in found["etc"] if not re.fullmatch(r"java-\d+-openjdk", name)]
    assert set(found["etc"]) <= {"R", "alternatives", "fonts", "group", "php", "hostname", "hosts", "ld.so.cache",
                                 "matplotlibrc", "nsswitch.conf", "passwd", "resolv.conf", "ssl"}
    assert (found["home"], found["run"], found["var"]) == (["user"], [], ["tmp"]), found  # /home/user is /sandbox
    assert found["mnt"] == [], found
    found, _ = attack("found['names'] = os.listdir('/etc/ssl') if os.path.exists('/etc/ssl') else []\n"
                      "found['bundle'] = os.path.exists('/etc/ssl/certs/ca-certificates.crt')")
    assert set(found["names"]) <= {"certs"}  # never the keys beside them
    assert found["bundle"] == os.path.exists("/etc/ssl/certs/ca-certificates.crt")
