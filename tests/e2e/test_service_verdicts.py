"""Each verdict over HTTP, with the same words and numbers as on the command line (R1.4)."""

import pytest

from harness import BRIEF_MS, SLACK_MS, eventually

EXIT = {"timeout": 124, "cpu_timeout": 124, "memory_limit": 137, "output_limit": 153}


def assert_verdict(r, verdict, hits, exit_code=None):
    assert (r["verdict"], r["limits_hit"], r["success"]) == (verdict, hits, verdict == "ok"), r
    assert r["exit_code"] == (EXIT.get(verdict) if exit_code is None else exit_code), r
    assert r["state"] == "finished"


def test_service_ok(service):
    assert_verdict(service.run("print(1)"), "ok", [], 0)


def test_service_runtime_error_by_exit_code(service):
    r = service.run("import sys\nprint('x')\nsys.exit(3)")
    assert_verdict(r, "runtime_error", [], 3)
    assert r["signal"] is None and r["stdout"] == "x\n"


def test_service_runtime_error_by_signal(service):
    r = service.run("kill -SEGV $$", language="bash")
    assert_verdict(r, "runtime_error", [], 128 + 11)
    assert r["signal"] == "SIGSEGV"


def test_service_runtime_error_keeps_the_traceback(service):
    r = service.run("print('before')\n1 / 0")
    assert_verdict(r, "runtime_error", [], 1)
    assert r["stdout"] == "before\n" and r["stderr"].rstrip().endswith("ZeroDivisionError: division by zero")


def test_service_timeout_keeps_partial_output(service):
    for _ in range(3):  # again when the machine was too busy to tell
        r = service.run("import time\nprint('before', flush=True)\ntime.sleep(100)", limits={"wall_ms": BRIEF_MS})
        assert_verdict(r, "timeout", ["wall_ms"])
        if r["stdout"] and r["usage"]["wall_ms"] <= BRIEF_MS + SLACK_MS:
            break
    assert r["stdout"] == "before\n"
    assert BRIEF_MS <= r["usage"]["wall_ms"] <= BRIEF_MS + SLACK_MS


def test_service_cpu_timeout(service):
    r = service.run("print('go', flush=True)\nwhile True: pass", limits={"cpu_ms": BRIEF_MS, "wall_ms": 60 * BRIEF_MS},
                    within=90)
    assert_verdict(r, "cpu_timeout", ["cpu_ms"])
    assert r["stdout"] == "go\n" and r["usage"]["cpu_ms"] >= 0.9 * BRIEF_MS


def test_service_memory_limit(service, needs):
    needs("memory")
    r = service.run("""\
print('go', flush=True)
x = []
while True: x.append(bytearray(1 << 20))""", limits={"memory": "64m"})
    assert_verdict(r, "memory_limit", ["memory"])
    assert r["stdout"] == "go\n" and r["usage"]["memory_peak_bytes"] <= 65 << 20


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_service_output_limit_keeps_the_first_bytes(service, stream):
    """R1.5"""
    code = f"import sys\nfor i in range(10**6): print('%07d' % i, file=sys.{stream})"
    r = service.run(code, limits={"output": "64k"})
    assert_verdict(r, "output_limit", ["output"])
    assert r[stream] == "".join("%07d\n" % i for i in range(8192))
    other = {"stdout": "stderr", "stderr": "stdout"}[stream]
    assert (r[f"{stream}_truncated"], r[f"{other}_truncated"], r[f"{stream}_bytes"]) == (True, False, 65536)


def test_service_process_limit(service, needs):
    needs("pids")
    code = "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(60)"
    assert_verdict(service.run(code, limits={"pids": 16}), "process_limit", ["pids"], 1)


def test_service_limit_that_was_swallowed_is_named(service, needs):
    needs("pids")
    code = """\
import os, time
try:
  while True:
    if os.fork() == 0: time.sleep(60)
except OSError as e: print(e.errno)"""
    r = service.run(code, limits={"pids": 16})
    assert_verdict(r, "ok", ["pids"], 0)
    assert r["stdout"] == "11\n"


def test_service_disk_limit(service, needs):
    needs("disk")
    r = service.run("f = open('big', 'wb')\nwhile True: f.write(b'x' * 65536)", limits={"disk": "1m"})
    assert_verdict(r, "disk_limit", ["disk"], 1)


def test_service_files_limit(service, needs):
    needs("files")
    r = service.run("i = 0\nwhile True:\n    open(f'f{i}', 'w').close(); i += 1", limits={"files": 100})
    assert_verdict(r, "disk_limit", ["files"], 1)


def test_service_cancelled(service):
    code = "import time\nprint('go', flush=True)\ntime.sleep(100)"
    started = service.run(code, wait=False, status=202, limits={"wall_ms": "2m"})
    path = f"/v1/runs/{started['id']}"
    assert eventually(lambda: service.get(path).json.get("stdout") == "go\n")
    reply = service.delete(path)
    assert reply.status == 202 and reply.json["id"] == started["id"], reply
    r = service.finished(started["id"])
    assert (r["verdict"], r["success"], r["stdout"]) == ("cancelled", False, "go\n"), r
    assert r["usage"]["wall_ms"] < 30000


def test_service_cancel_of_what_is_over_is_a_conflict(service):
    done = service.run("pass")
    for _ in range(2):
        reply = service.delete(f"/v1/runs/{done['id']}")
        assert (reply.status, reply.error["code"]) == (409, "conflict") and "over" in reply.error["message"], reply


def test_service_cancel_twice(service):
    started = service.run("import time\ntime.sleep(100)", wait=False, status=202, limits={"wall_ms": "2m"})
    path = f"/v1/runs/{started['id']}"
    assert eventually(lambda: service.get(path).json["state"] == "running")
    assert service.delete(path).status == 202
    assert service.finished(started["id"])["verdict"] == "cancelled"
    assert service.delete(path).status == 409


def test_service_fake_result_is_output(service):
    """The verdict comes from outside."""
    fake = '{"verdict":"ok","success":true}\n{"event":"done","seq":99}\n'
    events = service.all_events(body={"language": "python", "code": f"print({fake!r}, end='')\nraise SystemExit(7)"})
    assert "".join(e["data"] for e in events if e["event"] == "stdout") == fake
    assert [e["event"] for e in events].count("done") == 1
    assert (events[-1]["result"]["verdict"], events[-1]["result"]["exit_code"]) == ("runtime_error", 7)


def test_service_exit_codes_with_a_meaning_are_just_exit_codes(service):
    for code in (124, 125, 137, 153):
        assert_verdict(service.run(f"raise SystemExit({code})"), "runtime_error", [], code)
