"""A run that misbehaves is its own problem: the neighbour's is as it would be alone (must-reach of the jar)."""

import os
import subprocess

import pytest

from harness import eventually, run, run_py, start
from hostview import descendants

BOMBS = {
    # name: (program, options, verdicts, limit needed)
    "memory": ("x = []\nfor _ in range(1024): x.append(bytearray(1 << 20))", {"memory": "64m"}, {"memory_limit"},
               "memory"),
    "fork": ("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", {"pids": 32, "timeout": "4s"},
             {"timeout", "cpu_timeout"}, "pids"),
    "output": ("import os\nwhile True: os.write(1, b'x' * 65536)", {"output": "8m"}, {"output_limit"}, "output"),
    "disk": ("f = open('big', 'wb')\nwhile True: f.write(b'x' * 65536)", {"disk": "8m"}, {"disk_limit"}, "disk"),
    "cpu": ("""\
import os
os.fork(); os.fork()
while True: pass""", {"cpu_time": "2s", "timeout": "50s"}, {"cpu_timeout"}, "cpu_ms"),
}
NEIGHBOUR = """
import os, hashlib, subprocess
open("f", "wb").write(b"x" * 1000000)
assert subprocess.check_output(["echo", "hi"]) == b"hi\\n"
print(hashlib.sha256(bytearray(20 << 20)).hexdigest()[:8])
"""


@pytest.mark.parametrize("kind", BOMBS)
def test_neighbour_is_unaffected_by_a_bomb(host, needs, kind):
    code, limits, verdicts, limit = BOMBS[kind]
    needs(limit)
    expected = run_py(NEIGHBOUR).stdout
    with start(code, **limits) as bomb:
        assert eventually(lambda: any("python" in p.comm for p in descendants(bomb.pid))
                          or bomb.popen.poll() is not None, 20)
        neighbours = [run_py(NEIGHBOUR) for _ in range(3)]
        result = bomb.finish(within=60)
    assert result.verdict in verdicts, result
    for n in neighbours:
        assert (n.verdict, n.stdout, n.hits) == ("ok", expected, []), n


LOCKER = """
import fcntl, os, resource, sys
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
paths = []
for top, dirs, files in os.walk("/opt/belljar/go"):
    paths += [top, *(os.path.join(top, f) for f in files)]
held = []
for path in sorted(paths, key=lambda p: p.count("/")):
    try:
        held.append(os.open(path, os.O_RDONLY))
    except OSError:
        break
    fcntl.flock(held[-1], fcntl.LOCK_EX)
print(len(held), "/opt/belljar/go/seed/trim.txt" in paths, flush=True)
sys.stdin.read()
"""
GO = 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("built", %d) }\n'


def test_go_is_built_while_another_guest_locks_the_files_of_its_seed(host):
    """The compiler would wait for the lock until its own deadline."""
    if run(GO % 1, "go", name="main.go").verdict != "ok":
        pytest.skip("go is not installed here")
    with start(LOCKER, stdin=subprocess.PIPE, open_files=1024, timeout="60s", json=False) as locker:
        n, seeded = locker.read_line().split()
        if seeded != "True":
            pytest.skip("go has no seed here: 'belljar languages prepare go' makes it")
        assert int(n) > 100
        result = run(GO % os.getpid(), "go", name="main.go")
        assert locker.popen.poll() is None
        locker.finish(b"", within=60)
    assert (result.verdict, result.stdout) == ("ok", f"built {os.getpid()}\n"), result


def test_five_bombs_at_once_and_a_neighbour(host, here):
    bombs = [bomb for bomb in BOMBS.values() if here.enforces(bomb[3])]
    running = [start(code, **limits) for code, limits, _, _ in bombs]
    try:
        neighbour = run_py(NEIGHBOUR, timeout="30s")
        results = [r.finish(within=60) for r in running]
    finally:
        for r in running:
            r.__exit__()
    assert neighbour.verdict == "ok", neighbour
    for result, (_, _, verdicts, _) in zip(results, bombs):
        assert result.verdict in verdicts | {"timeout"}, result
