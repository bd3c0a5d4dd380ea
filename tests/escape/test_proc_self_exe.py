"""Overwriting a host binary through /proc/*/exe (CVE-2019-5736): no host binary runs writable in a jar."""

from harness import attack, let_through


def test_no_executable_of_a_process_can_be_written():
    found, _ = attack("""
deadline = time.monotonic() + 1
while time.monotonic() < deadline:
    for pid in ["self", "thread-self"] + [p for p in listed("/proc") if p.isdigit()]:
        for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC, os.O_WRONLY | os.O_APPEND):
            key = f"{pid} {flags}"
            got = attempt(opened, f"/proc/{pid}/exe", flags)
            if found.get(key, "E").startswith("E"): found[key] = got
found["chmod"] = attempt(os.chmod, "/proc/self/exe", 0o777)
found["truncate"] = attempt(os.truncate, "/proc/self/exe", 0)
found["unlink"] = attempt(os.unlink, sys.executable)
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


def test_replacing_the_interpreter_under_a_name_of_ours_changes_no_host_file():
    found, _ = attack("""
import subprocess
exe = os.path.realpath(sys.executable)
found["rename"] = attempt(os.rename, exe, exe + ".old")
found["link"] = attempt(os.link, exe, "stolen")
found["symlink"] = attempt(os.symlink, "/bin/sh", exe)
found["write"] = attempt(opened, exe, os.O_WRONLY)
""")
    assert not let_through(found), found
