"""Mounts and masked paths (CVE-2021-30465, CVE-2025-31133, -52565, -52881): nothing can be mounted, unmounted or
unmasked, and a program that changes its directories misleads nobody outside."""

import pytest

from harness import attack, given_time, let_through, run_py, run_sh

pytestmark = pytest.mark.usefixtures("sealed")


def test_no_mount_call_works():
    found, _ = attack("""
p = ctypes.c_char_p
os.mkdir("m")
found["tmpfs"] = sys_call(165, p(b"none"), p(b"m"), p(b"tmpfs"), 0, None)
found["bind"] = sys_call(165, p(b"/"), p(b"m"), None, 4096, None)
found["proc"] = sys_call(165, p(b"proc"), p(b"m"), p(b"proc"), 0, None)
found["remount"] = sys_call(165, None, p(b"/"), None, 32, None)
found["private"] = sys_call(165, None, p(b"/"), None, 1 << 18, None)
found["umount"] = sys_call(166, p(b"/proc"), 2)
found["umount root"] = sys_call(166, p(b"/"), 2)
found["pivot_root"] = sys_call(155, p(b"."), p(b"."))
found["chroot"] = sys_call(161, p(b"."))
found["open_tree"] = sys_call(428, -100, p(b"/"), 1)
found["move_mount"] = sys_call(429, 0, p(b""), 0, p(b"m"), 4)
found["fsopen"] = sys_call(430, p(b"tmpfs"), 0)
found["fspick"] = sys_call(433, -100, p(b"/"), 0)
found["mount_setattr"] = sys_call(442, -100, p(b"/"), 0, p(b"\\0" * 32), 32)
""")
    assert len(found) == 14 and not let_through(found), found


def test_masked_paths_stay_masked():
    """Paths that container runtimes mask do not exist at all."""
    found, _ = attack("""
for path in ("/proc/sys", "/proc/sysrq-trigger", "/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug",
             "/proc/scsi", "/proc/bus", "/proc/fs", "/proc/irq", "/proc/acpi", "/proc/kallsyms", "/proc/modules",
             "/proc/interrupts", "/proc/cmdline", "/proc/mounts/../kmsg", "/sys", "/sys/firmware", "/sys/kernel",
             "/dev/kmsg", "/dev/mem", "/dev/console", "/dev/mqueue/x"):
    found[path] = os.path.lexists(path)
""")
    assert len(found) == 23 and not any(found.values()), found


def test_hostile_directories_mislead_nobody(public_path):
    """The program swaps its directories for links to those of the host, again and again, until it is ended. Files
    that are fetched afterwards come from inside, or not at all."""
    code = """
import ctypes, os
libc = ctypes.CDLL(None)
os.mkdir("d"); open("d/passwd", "w").write("inside")
os.symlink("/etc", "e")
print("racing", flush=True)
while True:
    libc.renameat2(-100, b"d", -100, b"e", 2)
"""
    for _ in range(3):
        result = given_time(lambda ms: run_py(code, out=[f"d/passwd:{public_path}/got"], timeout=f"{ms}ms"))
        assert result.verdict == "timeout" and result.stdout == "racing\n", result
        if (public_path / "got").exists():
            assert (public_path / "got").read_text() == "inside"
            (public_path / "got").unlink()


@pytest.mark.parametrize("victim", ["/tmp", "/dev/shm", "/sandbox", "/proc", "/dev", "/usr", "/"])
def test_mount_points_cannot_be_moved_or_replaced(victim):
    found, _ = attack(f"""
victim = {victim!r}
found["rename"] = attempt(os.rename, victim, "/sandbox/moved")
found["exchange"] = "EBUSY"
if victim != "/sandbox":
    found["exchange"] = sys_call(316, -100, ctypes.c_char_p(victim.encode()), -100, ctypes.c_char_p(b"/sandbox"), 2)
found["rmdir"] = attempt(os.rmdir, victim)
found["symlink"] = attempt(os.symlink, "/etc", victim)
""")
    assert not let_through(found), found


def test_writable_root_gives_no_way_to_the_next_run():
    """Links planted in a throw-away root are gone with it."""
    run_sh("test -e /root -o -e /sys || mv /etc /etc2; ln -s /proc/self/root /etc; ln -s / /sandbox/loop",
           writable_root=True)
    result = run_sh("test -d /etc && test ! -L /etc && ls /sandbox")
    assert result.stdout == "main.sh\n", result
