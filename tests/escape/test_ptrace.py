"""Reaching into other processes: ptrace, process_vm_*, pidfd_getfd, /proc/PID/mem. Not of pid 1, not of a sibling."""

import ctypes
import os

from harness import attack, let_through, start
from hostview import descendants

TRY = """
p = ctypes.c_char_p
def reach_into(pid, label):
    found[label + " attach"] = sys_call(101, 16, pid, 0, 0)
    found[label + " seize"] = sys_call(101, 0x4206, pid, 0, 0)
    buffer = ctypes.create_string_buffer(64)
    local = struct.pack("<QQ", ctypes.addressof(buffer), 64)
    remote = struct.pack("<QQ", id(pid) if pid == os.getpid() else 0x400000, 64)
    found[label + " readv"] = sys_call(310, pid, p(local), 1, p(remote), 1, 0)
    found[label + " writev"] = sys_call(311, pid, p(local), 1, p(remote), 1, 0)
    found[label + " kcmp"] = sys_call(312, pid, os.getpid(), 0, 0, 0)
    fd = sys_call(434, pid, 0)
    if fd.startswith("ok"):
        found[label + " getfd"] = sys_call(438, int(fd[4:]), 0, 0)
        found[label + " madvise"] = sys_call(440, int(fd[4:]), p(remote), 1, 21, 0)
    found[label + " migrate"] = sys_call(256, pid, 64, p(b"\\1" + bytes(7)), p(b"\\1" + bytes(7)))
"""


def test_first_process_cannot_be_entered(sealed):
    found, _ = attack(TRY + """
reach_into(1, "init")
for f in ("mem", "maps", "environ", "fd/0", "root", "cwd", "exe", "task/1/mem"):
    found["open " + f] = attempt(opened, f"/proc/1/{f}", os.O_RDONLY)
""")
    assert len(found) >= 12 and not let_through(found), let_through(found)


def test_own_child_cannot_be_traced():
    """The calls are refused even where the kernel would allow them."""
    found, _ = attack(TRY + """
child = os.fork()
if child == 0:
    time.sleep(20); os._exit(0)
reach_into(child, "child")
found["traceme"] = sys_call(101, 0, 0, 0, 0)
os.kill(child, 9)
""")
    assert len(found) >= 7 and not let_through(found), let_through(found)


def test_program_of_another_jar_is_not_in_sight(sealed):
    """By its host pid, as an insider would have to guess it."""
    with start("print('go', flush=True)\nimport time\ntime.sleep(60)", json=False, timeout="50s") as sibling:
        assert sibling.read_line() == "go"
        pids = [p.pid for p in descendants(sibling.pid)]
        found, _ = attack(TRY + f"""
for pid in {pids!r}:
    found[f"kill {{pid}}"] = attempt(os.kill, pid, 0) if pid > 5 else "ESRCH"
    found[f"proc {{pid}}"] = attempt(os.stat, f"/proc/{{pid}}") if pid > 5 else "ENOENT"
    found[f"pidfd {{pid}}"] = sys_call(434, pid, 0) if pid > 5 else "ESRCH"
found["count"] = "E" if len([p for p in os.listdir("/proc") if p.isdigit()]) <= 2 else "ok"
""")
        assert not let_through(found), let_through(found)


def test_caller_cannot_be_seen_by_the_jar_but_the_jar_by_the_caller(as_root):
    """The control: from outside, the same calls do work."""
    with start("print('go', flush=True)\nimport time\ntime.sleep(60)", json=False, timeout="50s") as running:
        assert running.read_line() == "go"
        program = [p for p in descendants(running.pid) if "python" in p.comm][0]
        libc = ctypes.CDLL(None, use_errno=True)
        fd = libc.syscall(434, program.pid, 0)
        assert fd >= 0
        os.close(fd)
