"""Nested user namespaces open the kernel's privileged surface (CVE-2024-1086 and many): no new namespace of any
kind."""

import pytest

from harness import attack, let_through

FLAGS = """
flags = {"time": 0x80, "mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000,
         "pid": 0x20000000, "net": 0x40000000}
flags["all"] = sum(flags.values())
flags["user+net"] = flags["user"] | flags["net"]
"""


def test_no_namespace_by_unshare():
    found, _ = attack(FLAGS + "for n, f in flags.items(): found[n] = sys_call(272, f)")
    assert len(found) == 10 and not let_through(found), found


def test_no_namespace_by_clone():
    """Also with junk in the upper half of the flags."""
    found, _ = attack(FLAGS + """
for name, f in flags.items():
    if name == "time": continue  # to clone, this bit is part of the signal number
    for high in (0, 1 << 32, 0xffffffff << 32):
        value = f | high | 17
        r = libc.syscall(ctypes.c_long(56), ctypes.c_ulong(value), ctypes.c_void_p(), ctypes.c_void_p(),
                         ctypes.c_void_p(), ctypes.c_long(0))
        if r == 0: os._exit(0)
        found[f"{name} {high:#x}"] = name_of(ctypes.get_errno()) if r < 0 else "ok"
""")
    assert len(found) == 27 and not let_through(found), found


def test_no_namespace_by_clone3():
    found, _ = attack(FLAGS + """
for name, f in flags.items():
    args = struct.pack("<11Q", f, 0, 0, 0, 17 if name != "time" else 0, 0, 0, 0, 0, 0, 0)
    r = libc.syscall(ctypes.c_long(435), ctypes.c_char_p(args), ctypes.c_long(88))
    if r == 0: os._exit(0)
    found[name] = name_of(ctypes.get_errno()) if r < 0 else "ok"
""")
    assert len(found) == 10 and not let_through(found), found


def test_no_namespace_by_setns():
    found, _ = attack("""
for n in ("user", "pid", "mnt", "net", "ipc", "uts", "cgroup"):
    fd = attempt(os.open, f"/proc/self/ns/{n}", os.O_RDONLY)
    found[n] = sys_call(308, int(fd[4:]), 0) if fd.startswith("ok") else fd
found["pidfd"] = sys_call(308, 0, 0x7e020000)
""")
    assert len(found) > 3 and not let_through(found), found


def test_clone_without_namespaces_works():
    """The control: it is the flags that are refused, not the call."""
    found, _ = attack("""\
pid = os.fork()
if pid == 0: os._exit(7)
found['child'] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])""")
    assert found == {"child": 7}


def test_namespaces_are_the_jars_own(sealed):
    """Every one differs from the host's (R4.1)."""
    import os

    found, _ = attack("found.update({n: os.readlink(f'/proc/self/ns/{n}') for n in os.listdir('/proc/self/ns')})")
    for name in ("user", "pid", "mnt", "net", "ipc", "uts", "cgroup"):
        assert found[name] != os.readlink(f"/proc/self/ns/{name}"), name


@pytest.mark.parametrize("path", ["uid_map", "gid_map", "setgroups", "projid_map"])
def test_id_maps_cannot_be_rewritten(path, sealed):
    found, _ = attack(f"""
def write():
    with open("/proc/self/{path}", "wb", buffering=0) as f: f.write(b"0 0 1")
found["w"] = attempt(write)
""")
    assert not let_through(found), found
