"""Slow cleanup: deep trees, hostile names, chmod 000, a million inodes. The file system is dropped, never walked."""

import time

import pytest

from harness import SLACK_MS, attack, run_py

BOUND_S = 5 + SLACK_MS / 100  # from the program's end to the command's; a walk would take far longer


def timed(code, **opts):
    started = time.monotonic()
    result = run_py(code, **opts)
    return result, time.monotonic() - started - result.usage["wall_ms"] / 1000


def test_hundred_thousand_levels(needs):
    needs("files")
    code = """
import os
top = os.open(".", os.O_RDONLY)
for shaft in range(100):  # straight down, Landlock would make every step cost as much as there is above it
    os.mkdir("shaft"); os.chdir("shaft")
    for _ in range(999): os.mkdir("d"); os.chdir("d")
    if shaft: os.rename("deep", "d", src_dir_fd=top)
    os.fchdir(top); os.rename("shaft", "deep")
depth = 0
os.chdir("deep")
while True:
    depth += 1
    try: os.chdir("d")
    except FileNotFoundError: break
print("depth", depth)
"""
    result, after = timed(code, files=200000, memory="1g", timeout="60s", cpu_time="60s", within=120)
    assert result.verdict == "ok" and result.stdout == "depth 100000\n", result
    assert after < BOUND_S


def test_hostile_names():
    """Newlines, every byte, 255 bytes long, no UTF-8, looking like options."""
    found, run = attack(r"""
names = [bytes([b]) * 200 for b in range(1, 256) if b != 47] + [b"a\nb", b"-rf", b"--", b"*", b"$(id)", b"\xff\xfe",
                                                                b"x" * 255, b" ", b"\x1b[31m"]
for n in names:
    os.mkdir(b"d" + n[:254]); open(n, "w").close()
found["made"] = len(os.listdir(b"."))
""")
    assert found["made"] > 500 and run.verdict == "ok"


def test_unreadable_directories():
    result = run_py("""\
import os
for i in range(200):
    os.makedirs(f'a{i}/b/c')
    for d in (f'a{i}/b', f'a{i}'):
        fd = os.open(d, 0); os.fchmod(fd, 0); os.close(fd)
print('made')""")
    assert (result.verdict, result.stdout) == ("ok", "made\n"), result


def test_a_million_files_end_at_the_limit(needs):
    needs("files")
    code = """
import os
made = 0
try:
    for made in range(1000000):
        os.close(os.open(f"f{made}", os.O_CREAT | os.O_WRONLY))
except OSError as e:
    print("stopped", made, e.errno)
"""
    result, after = timed(code, files=50000, memory="512m", timeout="60s", cpu_time="60s", within=120)
    word, made, number = result.stdout.split()
    assert (word, number) == ("stopped", "28") and 49000 < int(made) <= 50000, result
    assert result.hits == ["files"] and after < BOUND_S


@pytest.mark.parametrize("kind", ["symlinks", "hard links", "fifos", "directories"])
def test_files_of_every_kind_are_counted(needs, kind):
    needs("files")
    make = {"symlinks": "os.symlink('x' * 200, n)", "hard links": "os.link('base', n)", "fifos": "os.mkfifo(n)",
            "directories": "os.mkdir(n)"}[kind]
    found, run = attack(f"""
open("base", "w").close()
i = 0
try:
    while i < 100000:
        n = f"n{{i}}"; {make}; i += 1
    found["end"] = "ENONE"
except OSError as e:
    found["end"] = name_of(e.errno)
found["made"] = i
""", files=1000, within=60)
    assert found["made"] <= 1001, found
    assert found["end"] in ("ENOSPC", "EOPNOTSUPP", "ENOTSUP", "EPERM", "ENOSYS", "EACCES", "EMLINK", "EDQUOT"), found


def test_open_deleted_files_are_counted(needs):
    """Space held only by a descriptor is space."""
    needs("disk")
    found, run = attack("""
held, total = [], 0
try:
    while True:
        f = open("f", "wb", buffering=0); os.unlink("f"); held.append(f)
        total += f.write(b"x" * 65536)
except OSError as e: found["end"] = name_of(e.errno)
found["total"] = total
""", disk="1m")
    assert found["end"] == "ENOSPC" and found["total"] <= 1 << 20, found
