"""Output floods: bounded reads, memory of belljar flat, also when the flood goes on after the streams are closed."""

import subprocess
import threading
import time

import pytest

from harness import BRIEF, BRIEF_MS, run_py, run_sh, start
from hostview import descendants, is_belljar, slurp

FLOOD = """
import os, threading
def flood(fd):
    while True: os.write(fd, b"x" * 65536)
threading.Thread(target=flood, args=(2,), daemon=True).start()
flood(1)
"""
SMALL_KIB = 64 << 10  # the bound on the growth of all processes of belljar together


def test_flood_on_both_streams_is_cut():
    result = run_py(FLOOD, output="1m")
    assert (result.verdict, result.status, result.hits) == ("output_limit", 153, ["output"]), result
    assert len(result.stdout) <= 1 << 20 and len(result.stderr) <= 1 << 20
    assert max(len(result.stdout), len(result.stderr)) == 1 << 20
    assert result.json["stdout_truncated"] or result.json["stderr_truncated"]


def resident_kib(pid):
    total = 0
    for p in descendants(pid):
        if is_belljar(p):
            for line in slurp(f"/proc/{p.pid}/status").decode("utf-8", "replace").splitlines():
                if line.startswith("VmRSS:"):
                    total += int(line.split()[1])
    return total


@pytest.mark.release_only
def test_belljar_stays_small_while_a_gigabyte_passes():
    """Live output is handed on, not kept."""
    with start(FLOOD, json=False, output="512m", timeout="60s", cpu_time="60s", cpu_percent=200,
               stdout=subprocess.DEVNULL) as running:
        peak = 0
        errors = []

        def drain():
            try:
                while running.popen.stderr.read(1 << 20):
                    pass
            except (OSError, ValueError) as e:
                errors.append(e)

        reader = threading.Thread(target=drain, daemon=True)
        reader.start()
        deadline = time.monotonic() + 90
        while running.popen.poll() is None and time.monotonic() < deadline:
            peak = max(peak, resident_kib(running.pid))
            time.sleep(0.01)
        assert running.popen.poll() == 153
        reader.join(10)
    assert 0 < peak < SMALL_KIB, f"{peak} KiB"


@pytest.mark.release_only
def test_belljar_stays_small_when_nobody_reads():
    """A reader that is slow or stopped holds the program up, not belljar's memory."""
    with start(FLOOD, json=False, output="512m", timeout=f"{3 * BRIEF_MS}ms", cpu_time="60s") as running:
        time.sleep(2)
        assert resident_kib(running.pid) < SMALL_KIB
        running.finish(within=60)


def test_program_may_close_its_output_and_go_on():
    """The flood is over, the program is not: it is still held to its limits."""
    result = run_sh("head -c 100000 /dev/zero; exec >&- 2>&-; sleep 60", timeout=BRIEF)
    assert (result.verdict, len(result.stdout)) == ("timeout", 100000), result.json["verdict"]


def test_flood_through_a_child_is_counted():
    result = run_sh("(yes & yes >&2 & wait) & wait", output="256k", timeout="20s")
    assert result.verdict == "output_limit", result.json["verdict"]


def test_empty_writes_and_single_bytes_are_cheap():
    result = run_py("import os\nfor _ in range(200000): os.write(1, b'x'); os.write(1, b'')", timeout="60s",
                    cpu_time="60s")
    assert (result.verdict, len(result.stdout)) == ("ok", 200000), result.json["verdict"]
