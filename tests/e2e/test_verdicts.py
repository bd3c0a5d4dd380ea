"""Every verdict that can be reached here is decided outside the jar (R1.4). A limit that the program met and
swallowed is named."""

import shutil

import pytest

from harness import (BRIEF, BRIEF_MS, SLACK_MS, belljar, eventually, given_time, interrupt, run_js, run_py, run_sh,
                     soonest, start)
from hostview import descendants


def test_ok():
    result = run_py("print(1)")
    assert (result.verdict, result.status, result.hits) == ("ok", 0, [])


def test_runtime_error_by_exit_code():
    result = run_py("raise SystemExit(3)")
    assert (result.verdict, result.status, result.json["exit_code"], result.hits) == ("runtime_error", 3, 3, [])


def test_runtime_error_by_signal():
    result = run_sh("kill -SEGV $$")
    assert (result.verdict, result.status) == ("runtime_error", 128 + 11)
    assert (result.json["exit_code"], result.json["signal"]) == (128 + 11, "SIGSEGV")


def test_syntax_error_is_a_runtime_error():
    """Interpreted languages have no compile stage of their own."""
    assert run_py("def").verdict == "runtime_error"


def test_timeout_keeps_partial_output():
    code = "import time\nprint('before', flush=True)\ntime.sleep(100)\nprint('after')"
    result = given_time(lambda ms: soonest(lambda: run_py(code, timeout=f"{ms}ms"), ms))
    limit_ms = result.json["limits"]["wall_ms"]
    assert (result.verdict, result.status, result.json["exit_code"]) == ("timeout", 124, 124)
    assert result.stdout == "before\n" and result.hits == ["wall_ms"]
    assert limit_ms <= result.usage["wall_ms"] <= limit_ms + SLACK_MS
    assert result.json["success"] is False


def test_cpu_timeout_counts_the_time_used_not_passed():
    result = run_py("print('go', flush=True)\nwhile True: pass", cpu_time=BRIEF, timeout=f"{60 * BRIEF_MS}ms",
                    within=90)
    assert (result.verdict, result.status, result.hits) == ("cpu_timeout", 124, ["cpu_ms"])
    assert 0.9 * BRIEF_MS <= result.usage["cpu_ms"] <= 4 * BRIEF_MS and result.stdout == "go\n"


def test_sleeping_costs_no_cpu_time():
    code = f"import time; time.sleep({BRIEF_MS * 1.5 / 1000})"
    assert run_py(code, cpu_time=BRIEF).verdict == "ok"


def test_cpu_time_is_summed_over_processes(needs):
    """Handing the work to children one after the other does not win time."""
    needs("pids")
    code = "while :; do python3 -c 'import time\nwhile time.process_time() < 0.1: pass'; done"
    result = run_sh(code, cpu_time=BRIEF, timeout=f"{40 * BRIEF_MS}ms")
    assert (result.verdict, result.status) == ("cpu_timeout", 124), result


def test_memory_limit(needs):
    needs("memory")
    code = "print('go', flush=True)\nx = []\nfor _ in range(1024): x.append(bytearray(1 << 20))"
    result = run_py(code, memory="64m")
    assert (result.verdict, result.status, result.hits) == ("memory_limit", 137, ["memory"]), result
    assert result.stdout == "go\n" and result.usage["memory_peak_bytes"] <= 65 << 20


def test_memory_limit_for_node(needs):
    needs("memory")
    result = run_js("const x = []; for (let i = 0; i < 1024; i++) x.push(Buffer.alloc(1 << 20, 1))", memory="96m")
    assert (result.verdict, result.status) == ("memory_limit", 137), result


def test_memory_limit_when_a_child_is_the_glutton(needs):
    """The run dies whole: an OOM in a child is not something a program may shrug off."""
    needs("memory")
    code = "python3 -c 'x = []\nfor _ in range(1024): x.append(bytearray(1 << 20))'; {} exit 0"
    for after in ("", "sleep 60;"):
        result = run_sh(code.format(after), memory="64m", timeout="20s")
        assert (result.verdict, result.status, result.hits) == ("memory_limit", 137, ["memory"]), result


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_limit_keeps_the_first_bytes(stream):
    code = f"import sys\nfor i in range(1000000): print('%07d' % i, file=sys.{stream})"
    result = run_py(code, output="64k")
    assert (result.verdict, result.status, result.hits) == ("output_limit", 153, ["output"])
    expected = "".join("%07d\n" % i for i in range(8192))
    assert result.json[stream] == expected and result.json[f"{stream}_truncated"] is True
    other = {"stdout": "stderr", "stderr": "stdout"}[stream]
    assert result.json[other] == "" and result.json[f"{other}_truncated"] is False


def test_output_up_to_the_limit_is_no_limit_hit():
    result = run_py("import sys; sys.stdout.write('x' * 65536)", output="64k")
    assert (result.verdict, len(result.stdout), result.json["stdout_truncated"]) == ("ok", 65536, False)


def test_output_limit_without_json_passes_the_first_bytes():
    result = run_py("import sys\nwhile True: sys.stdout.write('x' * 4096)", output="64k", json=False)
    assert (result.status, result.out) == (153, b"x" * 65536)


def test_process_limit_when_the_program_fails_of_it(needs):
    needs("pids")
    code = "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(60)"
    result = run_py(code, pids=16, timeout="20s")
    assert (result.verdict, result.hits, result.status) == ("process_limit", ["pids"], 1), result
    assert "BlockingIOError" in result.stderr and result.usage["pids_peak"] <= 17


def test_process_limit_swallowed_is_ok_with_the_limit_named(needs):
    needs("pids")
    code = """\
import os, time
try:
  while True:
    if os.fork() == 0: time.sleep(60)
except OSError as e: print(e.errno)"""
    result = run_py(code, pids=16, timeout="20s")
    assert (result.verdict, result.hits, result.stdout) == ("ok", ["pids"], "11\n"), result


DISK = "f = open('big', 'wb')\n{}\n    while True: f.write(b'x' * 65536); f.flush()\n{}"


def test_disk_limit_when_the_program_fails_of_it(needs):
    needs("disk")
    result = run_py(DISK.format("if True:", ""), disk="1m")
    assert (result.verdict, result.hits, result.status) == ("disk_limit", ["disk"], 1), result
    assert "No space left" in result.stderr or "Disk quota" in result.stderr


def test_disk_limit_swallowed_is_ok_with_the_limit_named(needs):
    needs("disk")
    code = DISK.format("try:", "except OSError as e: print(e.errno); import os; os._exit(0)")
    result = run_py(code, disk="1m")
    assert (result.verdict, result.hits, result.stdout) == ("ok", ["disk"], "28\n"), result


def test_disk_limit_holds_when_the_program_makes_room_again(needs):
    """The kernel keeps no peak of a tmpfs: only a look of the warden in that moment can name the limit."""
    needs("disk")
    code = """
import os
try:
    open("big", "wb").write(b"x" * (2 << 20))
except OSError as e:
    print(e.errno)
os.remove("big")
"""
    result = run_py(code, disk="1m")
    assert (result.verdict, result.stdout) == ("ok", "28\n") and result.hits in ([], ["disk"]), result


def test_files_limit(needs):
    needs("files")
    result = run_py("i = 0\nwhile True:\n    open(f'f{i}', 'w').close(); i += 1", files=100)
    assert (result.verdict, result.hits) == ("disk_limit", ["files"]), result


def test_files_limit_swallowed(needs):
    needs("files")
    code = """\
i = 0
try:
  while True:
    open(f'f{i}', 'w').close(); i += 1
except OSError as e: print(e.errno, i < 100)"""
    result = run_py(code, files=100)
    assert (result.verdict, result.hits, result.stdout) == ("ok", ["files"], "28 True\n"), result


def test_open_files_limit_is_enforced():
    code = "f = []\ntry:\n  while True: f.append(open('/dev/null'))\nexcept OSError as e: print(e.errno, len(f) <= 61)"
    result = run_py(code, open_files=64)
    assert result.verdict == "ok" and result.stdout == "24 True\n", result


HOARDS = {
    "python": "held = []\nwhile True: held.append(open('/dev/null'))\n",
    "javascript": "for (;;) require('fs').openSync('/dev/null')\n",
    "c": """#include <fcntl.h>
#include <stdio.h>
int main(void) { while (open("/dev/null", O_RDONLY) >= 0); perror("open"); return 1; }
""",
}


@pytest.mark.parametrize("lang", HOARDS)
def test_the_diagnosis_names_the_limit_of_open_files(lang):
    """The kernel counts no refused descriptor, so limits_hit, which is exact, never names this limit."""
    if not shutil.which({"python": "python3", "javascript": "node", "c": "gcc"}[lang], path="/usr/bin"):
        pytest.skip(f"{lang} is not installed")
    result = belljar("run", "--json", "--open-files", "64", "-l", lang, "-", stdin=HOARDS[lang].encode(), within=90)
    assert (result.verdict, result.hits) == ("runtime_error", []), result
    diagnosis = result.json["diagnosis"]
    assert (diagnosis["category"], diagnosis["sandbox"]) == ("resource", True), result
    advice = diagnosis["suggestions"][0]["text"]
    assert "64 files open" in advice and "--open-files" in advice and '"open_files"' in advice, result


def test_cancelled_by_ctrl_c():
    code = "import os\nprint('go', flush=True)\nos.execvp('sleep', ['sleep', '60'])"
    with start(code, timeout="50s") as running:
        # --json prints nothing before the end. The program has printed when it is called `sleep`.
        assert eventually(lambda: [p for p in descendants(running.pid) if p.comm == "sleep"], 20)
        interrupt(running)
        result = running.finish(within=20)
    assert (result.verdict, result.status, result.stdout) == ("cancelled", 130, "go\n"), result
    assert result.json["success"] is False


def test_several_limits_hit_are_all_named(needs):
    needs("pids", "files")
    code = """
import os, time
def swallow(f):
    try: f()
    except OSError: pass
def forks():
    while True:
        if os.fork() == 0: time.sleep(60)
def files():
    i = 0
    while True: open(f"f{i}", "w").close(); i += 1
swallow(forks); swallow(files)
print("met both", flush=True)
time.sleep(60)
"""
    result = given_time(lambda ms: run_py(code, pids=16, files=100, timeout=f"{ms}ms"))
    assert result.verdict == "timeout" and set(result.hits) == {"wall_ms", "pids", "files"}, result
