"""cgroup release_agent (CVE-2022-0492): no cgroup file system to be seen, none to be mounted, no namespace to do it
in."""

import pytest

from harness import attack, let_through

pytestmark = pytest.mark.usefixtures("sealed")


def test_no_cgroup_can_be_mounted_or_written():
    found, _ = attack("""
p = ctypes.c_char_p
os.mkdir("cg")
for flags in (0x10000000, 0x10000000 | 0x20000, 0x02000000, 0x20000, 0x7e020000):
    found[f"unshare {flags:#x}"] = sys_call(272, flags)
for kind, data in ((b"cgroup", b"memory"), (b"cgroup", b"rdma"), (b"cgroup", b"none,name=x"), (b"cgroup2", None)):
    found[f"mount {kind} {data}"] = sys_call(165, p(b"none"), p(b"cg"), p(kind), 0, p(data) if data else None)
found["fsopen"] = sys_call(430, p(b"cgroup"), 0)
""")
    assert not let_through(found), found


def test_no_cgroup_file_is_in_sight():
    found, _ = attack("""
found["seen"] = [os.path.join(d, f) for d, _, names in os.walk("/") if not d.startswith(("/usr", "/proc"))
                 for f in names if f in ("release_agent", "notify_on_release", "cgroup.procs", "tasks")]
found["mounts"] = [l for l in open("/proc/self/mountinfo") if "cgroup" in l.split(" - ")[1]]
found["path"] = [l.strip().split(":", 2)[2] for l in open("/proc/self/cgroup")]
""")
    assert found["seen"] == [] and found["mounts"] == []
    assert set(found["path"]) == {"/"}, "own cgroup namespace"
