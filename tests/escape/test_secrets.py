"""Secrets of the host: in the caller's environment, memory and files; none is found inside by looking everywhere."""

import os
import secrets

import pytest

from harness import attack, public_dir

SEARCH = """
needle = bytes.fromhex({needle!r})
hits, looked = [], 0
def look(path, limit=1 << 22):
    global looked
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError: return
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode): return
        looked += 1
        if needle in os.read(fd, limit): hits.append(path)
    except OSError: pass
    finally: os.close(fd)
import itertools
places = "/", ".", "/usr/share/doc/base-files", "/tmp"
for top, dirs, names in itertools.chain(*map(os.walk, places)):
    if top == "/usr" or (top.startswith("/proc/") and top.count("/") > 4) or top.startswith("/sys/"):
        dirs.clear()
        continue
    for n in names: look(os.path.join(top, n))
for pid in [p for p in listed("/proc") if p.isdigit()]:
    try: maps = open(f"/proc/{{pid}}/maps").read().splitlines()
    except OSError: continue
    if int(pid) == os.getpid(): continue
    for line in maps:
        a, b = (int(x, 16) for x in line.split()[0].split("-"))
        try:
            with open(f"/proc/{{pid}}/mem", "rb", buffering=0) as mem:
                mem.seek(a)
                if needle in mem.read(b - a): hits.append(f"mem of {{pid}}")
        except (OSError, ValueError, OverflowError): pass
found["hits"], found["looked"] = hits, looked
"""


def search(needle, **opts):
    # The needle goes in reversed, or its own program text would be found.
    code = SEARCH.format(needle=needle[::-1].hex()).replace("needle = bytes", "needle = b'' + bytes", 1)
    return attack(code.replace("\nhits, looked", "\nneedle = needle[::-1]\nhits, looked", 1), **opts)


def test_canary_in_the_callers_environment_is_not_found():
    needle = secrets.token_hex(16).encode()
    found, _ = search(needle, environ={**os.environ, "CANARY": needle.decode()})
    assert found["hits"] == [] and found["looked"] > 0, found


def test_canary_in_a_file_of_the_host_is_not_found(sealed):
    needle = secrets.token_hex(16).encode()
    where = public_dir()
    try:
        (where / "canary").write_bytes(needle)
        (where / "canary").chmod(0o644)
        found, _ = search(needle)
    finally:
        (where / "canary").unlink()
        where.rmdir()
    assert found["hits"] == [] and found["looked"] > 0, found


def test_canary_in_belljars_own_memory_is_not_found():
    """Arguments for another program, in memory of the process that started this one."""
    needle = secrets.token_hex(16).encode()
    found, _ = search(needle, prefix=["env", f"CANARY_{needle.decode()}=1"])
    assert found["hits"] == [], found


def test_control_a_canary_that_is_inside_is_found(public_path):
    needle = secrets.token_hex(16).encode()
    (public_path / "known").write_bytes(b"x" + needle + b"y")
    found, _ = search(needle, file=[public_path / "known"])
    assert [h for h in found["hits"] if h.endswith("/known")], found


@pytest.mark.parametrize("path", ["environ", "mem", "maps", "cmdline", "cwd", "root", "fd/0", "exe", "ns/user", "auxv",
                                  "stack", "io"])
def test_first_process_tells_nothing(sealed, path):
    found, _ = attack(f"""
found["read"] = attempt(lambda: open("/proc/1/{path}", "rb").read(100))
found["link"] = attempt(os.readlink, "/proc/1/{path}")
""")
    assert all(v.startswith("E") for v in found.values()), found
