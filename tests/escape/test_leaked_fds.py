"""Leaked descriptors and working directories (CVE-2024-21626): exactly 0, 1, 2, and a cwd inside."""

import os
import subprocess

from harness import BELLJAR, PRELUDE, attack

LOOK = """
for fd in range(0, 4096):
    try: found[str(fd)] = stat.S_IFMT(os.fstat(fd).st_mode), os.readlink(f"/proc/self/fd/{fd}")
    except OSError: pass
"""


def test_descriptors_are_exactly_three():
    found, _ = attack(LOOK)
    assert set(found) == {"0", "1", "2"}, found


def test_descriptors_lead_nowhere():
    """Pipes or /dev/null: no file, no directory, no socket, no terminal."""
    found, _ = attack(LOOK)
    for fd, (kind, name) in found.items():
        assert name.startswith("pipe:") or name == "/dev/null", (fd, name)


def test_inherited_descriptors_do_not_arrive():
    """belljar is started with descriptors up to high numbers: a directory of the host, a socket, a file. None reaches
    the program."""
    import json
    import socket

    opened = [os.open("/", os.O_RDONLY | os.O_DIRECTORY), os.open("/etc/passwd", os.O_RDONLY)]
    pair = socket.socketpair()
    high = os.dup2(opened[0], 900)
    try:
        fds = [*opened, pair[0].fileno(), high]
        done = subprocess.run([BELLJAR, "run", "-l", "python", "-"], pass_fds=fds, capture_output=True, timeout=60,
                              input=(PRELUDE + LOOK + "\nhand_over()\n").encode())
        found = json.loads(done.stdout.split(b"FOUND ")[1])
        assert set(found) == {"0", "1", "2"}, (found, done.stderr)
    finally:
        for fd in {*opened, high}:
            os.close(fd)
        for s in pair:
            s.close()


def test_working_directory_is_inside(sealed):
    """Climbing from it ends at the jar's own root."""
    found, _ = attack("""
found["cwd"] = os.getcwd()
for _ in range(50): os.chdir("..")
found["top"] = os.getcwd()
found["same"] = os.path.samefile(".", "/") and os.path.samefile("/", "/proc/self/root")
found["root"] = sorted(os.listdir("."))
for path in ("/proc/self/cwd/../../../../root", "/proc/self/root/root", "/proc/self/root/boot"):
    found[path] = os.path.exists(path)
""")
    assert found["cwd"] == "/sandbox" and found["top"] == "/" and found["same"]
    assert not {"root", "boot", "media", "srv", "sys"} & set(found["root"]), found
    assert not [k for k, v in found.items() if k.startswith("/proc") and v]
