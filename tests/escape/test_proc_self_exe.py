"""Overwriting a host binary through /proc/*/exe (CVE-2019-5736): no host binary runs writable in a jar."""

from harness import attack, let_through


def test_no_executable_of_a_process_can_be_written():
    found, _ = attack("""
deadline = time.monotonic() + 1
while time.monotonic() < deadline:
    for pid in ["self", "thread-self"] + [p for p in listed("/proc") if p.isdigit()]:
        for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND):
            key = f"{pid} {flags}"
            got = attempt(opened, f"/proc/{pid}/exe", flags)
            if found.get(key, "E").startswith("E"): found[key] = got
now = os.stat("/usr/bin/python3")
found["chmod"] = attempt(os.chmod, "/proc/self/exe", stat.S_IMODE(now.st_mode))
found["truncate"] = attempt(os.truncate, "/proc/self/exe", now.st_size)
""")
    assert "self 1" in found and not let_through(found), let_through(found)


def test_the_first_process_hides_its_executable(sealed):
    """It is belljar's own code: neither its file nor its memory map is of use to the program."""
    found, _ = attack("""
for f in ("exe", "cwd", "root"):
    found[f] = attempt(os.readlink, f"/proc/1/{f}")
for f in ("maps", "mem", "environ", "fd", "map_files", "auxv", "syscall", "stack"):
    found[f] = attempt(lambda p: os.listdir(p) if os.path.isdir(p) else open(p, "rb").read(), f"/proc/1/{f}")
found["exec"] = attempt(os.execv, "/proc/1/exe", ["x"])
""")
    assert not let_through(found), found


def test_nothing_can_be_put_in_the_place_of_the_interpreter():
    found, _ = attack("""
import subprocess
exe = os.path.realpath(sys.executable)
found["beside"] = attempt(os.mkdir, exe + ".d")
found["link"] = attempt(os.link, exe, "stolen")
found["symlink"] = attempt(os.symlink, "/bin/sh", exe + ".l")
found["write"] = attempt(opened, exe, os.O_WRONLY)
""")
    assert not let_through(found), found
