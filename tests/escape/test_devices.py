"""Devices: an own, minimal /dev; none can be made, none of the host's is there."""

import pytest

from harness import attack, let_through


def test_no_device_can_be_made():
    found, _ = attack("""
places = [".", "/tmp", "/dev", "/dev/shm", os.environ.get("TMPDIR", ".")]
for place in places:
    for name, kind, major, minor in (("mem", stat.S_IFCHR, 1, 1), ("null", stat.S_IFCHR, 1, 3),
                                     ("vda", stat.S_IFBLK, 254, 0),
                                     ("sda", stat.S_IFBLK, 8, 0), ("kvm", stat.S_IFCHR, 10, 232),
                                     ("fuse", stat.S_IFCHR, 10, 229)):
        path = f"{place}/{name}-{os.getpid()}"
        got = attempt(os.mknod, path, kind | 0o666, os.makedev(major, minor))
        if got.startswith("ok"): got = attempt(opened, path, os.O_RDONLY)
        found[f"{path}"] = got
""")
    assert len(found) >= 24 and not let_through(found), let_through(found)


def test_dev_is_minimal(sealed):
    found, _ = attack("""
found["names"] = sorted(os.listdir("/dev"))
found["devices"] = {}
for d, _, names in os.walk("/dev"):
    for n in names:
        s = os.lstat(os.path.join(d, n))
        if stat.S_ISCHR(s.st_mode) or stat.S_ISBLK(s.st_mode):
            found["devices"][os.path.join(d, n)] = os.major(s.st_rdev), os.minor(s.st_rdev), stat.S_ISBLK(s.st_mode)
""")
    allowed = {"/dev/null": [1, 3, False], "/dev/zero": [1, 5, False], "/dev/full": [1, 7, False],
               "/dev/random": [1, 8, False], "/dev/urandom": [1, 9, False], "/dev/tty": [5, 0, False]}
    assert found["devices"].items() <= allowed.items(), found
    assert set(found["names"]) <= {"null", "zero", "full", "random", "urandom", "tty", "fd", "stdin", "stdout",
                                   "stderr", "shm", "pts", "ptmx"}, found


def test_devices_there_work():
    found, _ = attack("""
found["null"] = open("/dev/null", "rb").read(1) == b"" and open("/dev/null", "wb").write(b"x") == 1
found["zero"] = open("/dev/zero", "rb").read(4) == bytes(4)
found["urandom"] = len(set(open("/dev/urandom", "rb").read(256))) > 50
found["full"] = attempt(lambda: os.write(os.open("/dev/full", os.O_WRONLY), b"x"))
""")
    assert found == {"null": True, "zero": True, "urandom": True, "full": "ENOSPC"}


@pytest.mark.parametrize("name", ["mem", "kmsg", "kvm", "fuse", "vda", "sda", "loop0", "loop-control", "ptmx",
                                  "console", "tty0",
                                  "vsock", "hwrng", "mapper/control", "net/tun", "cpu/0/msr", "disk", "snapshot",
                                  "uinput"])
def test_host_device_is_absent(sealed, name):
    found, _ = attack(f"found['x'] = attempt(os.stat, '/dev/{name}')")
    assert found["x"] in ("ENOENT", "EACCES", "ENOTDIR"), found
