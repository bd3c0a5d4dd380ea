"""The zygote's uid owns the namespaces of every jar, and warm guests are copies of it: none of that is a way to it,
to the warden, or to another guest of the same zygote."""

import json

import pytest

import warm
from harness import PRELUDE, let_through

ATTACK = PRELUDE + r'''
SYS = dict(ptrace=101, process_vm_readv=310, process_vm_writev=311, pidfd_open=434, pidfd_send_signal=424,
           pidfd_getfd=438, setns=308,
           unshare=272, keyctl=250, add_key=248, request_key=249, kcmp=312, setuid=105, setresuid=117, setgid=106,
           capset=126,
           perf_event_open=298, process_madvise=440, migrate_pages=256, move_pages=279, get_robust_list=274)
me = os.getpid()
seen = [int(p) for p in listed("/proc") if p.isdigit()]
found["seen"] = "E" if set(seen) <= {1, me} else "ok: %r" % seen
others = [p for p in range(1, 300) if p != me]
def over(name, f):
    """One attempt at each process that could be somebody else's."""
    got = {f(p) for p in others}
    found[name] = "E" if all(g.startswith("E") for g in got) else "ok: %r" % sorted(got)
over("ptrace", lambda p: sys_call(SYS["ptrace"], 16, p, 0, 0))
over("pidfd_getfd", lambda p: sys_call(SYS["pidfd_getfd"], p, 0, 0))
over("process_vm_readv", lambda p: sys_call(SYS["process_vm_readv"], p, 0, 0, 0, 0, 0))
over("kcmp", lambda p: sys_call(SYS["kcmp"], me, p, 0, 0, 0))
for name in ("mem", "environ", "maps", "fd", "root", "cwd", "exe", "ns/user", "ns/mnt", "task", "auxv", "stack",
             "syscall", "map_files"):
    over("proc " + name,
         lambda p: attempt(lambda: os.listdir(f"/proc/{p}/{name}")
                           if name in ("fd", "task", "map_files", "root", "cwd") and (p != 1 or name != "task")
                                           else opened(f"/proc/{p}/{name}", os.O_RDONLY)
                                           if name != "task" else opened("/nonexistent", 0)))
# a signal that could hit anybody but init, who is deaf
over("signal 0", lambda p: attempt(os.kill, p, 0) if p != 1 else "E")
for kind in ("user", "mnt", "net", "pid", "ipc", "uts", "cgroup"):
    try: fd = os.open(f"/proc/self/ns/{kind}", os.O_RDONLY)
    except OSError: continue
    found["setns " + kind] = sys_call(SYS["setns"], fd, 0)
    # NS_GET_USERNS, NS_GET_PARENT, NS_GET_OWNER_UID: the way from a namespace to who owns it
    for ioctl in (0xb701, 0xb702, 0xb704):
        uid = ctypes.c_uint(0)
        if kind == "user" or ioctl != 0xb704:
            found["ns ioctl %s %x" % (kind, ioctl)] = sys_call(16, fd, ioctl, ctypes.byref(uid))
    os.close(fd)
for uid in (0, 1001, 0x70000000, 0x70001000):
    found["setuid %x" % uid] = sys_call(SYS["setuid"], uid)
    found["setresuid %x" % uid] = sys_call(SYS["setresuid"], uid, uid, uid)
found["unshare user"] = sys_call(SYS["unshare"], 0x10000000)
for op in (0, 1, 3, 6, 11, 16):
    found["keyctl %d" % op] = sys_call(SYS["keyctl"], op, -3, 0, 0, 0)
found["request_key"] = sys_call(SYS["request_key"], b"user\0", b"x\0", 0, -3)
for line in content("/proc/self/maps").splitlines():
    if "belljar" in line:
        path, span = line.split()[-1], line.split()[0]
        found["driver's file"] = attempt(opened, path, os.O_RDONLY)
        found["driver's mapping"] = attempt(opened, "/proc/self/map_files/" + span, os.O_RDONLY)
        break
names = [l.split()[-1] for l in content("/proc/self/net/unix").splitlines()[1:] if "@" in l]
found["abstract sockets"] = "E" if not names else "ok: %r" % names
hand_over()
'''


@pytest.mark.parametrize("kind", ["", "import json\n"])
def test_warm_guest_finds_no_way_to_its_zygote(pooled, kind):
    r = warm.run(pooled, kind + ATTACK, limits={"wall_ms": 60000})
    lines = [line for line in r["stdout"].splitlines() if line.startswith("FOUND ")]
    assert lines, r
    found = json.loads(lines[-1][len("FOUND "):])
    cold = pooled.run(kind + ATTACK, read_only=False, limits={"wall_ms": 60000})
    cold = json.loads([line for line in cold["stdout"].splitlines() if line.startswith("FOUND ")][-1][len("FOUND "):])
    assert let_through(found) == let_through({k: v for k, v in cold.items() if k in found}), r
    assert not [k for k in let_through(found) if not k.startswith("proc exe")], let_through(found)
