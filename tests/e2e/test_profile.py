"""A profile shows where a run spends its time, and its use of memory and CPU over time. Every language is measured
from outside, and a language with a profiler also from inside. Nothing that a guest writes into its profile does
harm."""

import json

import pytest

from harness import PATIENCE, ROOT, belljar, public_dir
from service import ROOMY, Service

HOT_PY = """import sys
def hot(n):
    s = 0
    for i in range(n):
        s += i * i
    return s
def cool(n):
    s = 0
    for i in range(n):
        s += i * i
    return s
hot(24000000)
cool(6000000)
print("done", sys.argv, __name__)
"""
HOT_JS = """function hot(n) {
  let s = 0;
  for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003;
  return s;
}
function cool(n) {
  let s = 0;
  for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003;
  return s;
}
hot(80e6);
cool(20e6);
console.log('done');
"""
HOT_TS = HOT_JS.replace("(n) {", "(n: number): number {").replace("let s = 0", "let s: number = 0")


def profiled(code, name, *options, args=(), text=False, within=200 * PATIENCE):
    path = public_dir() / name
    path.write_text(code)
    path.chmod(0o644)
    r = belljar("run", "--local", "--profile", *([] if text else ["--json"]), "--timeout", "180s", "--cpu-time", "30s",
                *options, path,
                *(["--", *args] if args else []), within=within)
    return r if text else r.json


def function(profile, name):
    found = [f for f in profile["functions"] if f["function"] == name]
    assert found, profile["functions"]
    return found[0]


@pytest.mark.parametrize("code, name", [(HOT_PY, "main.py"), (HOT_JS, "main.js"), (HOT_TS, "main.ts")],
                         ids=("python", "javascript", "typescript"))
def test_a_known_split_of_time_is_seen(code, name):
    """Four fifths in one function, one in the other; within 15 points."""
    r = profiled(code, name)
    assert r["verdict"] == "ok" and r["start"] == "cold", r
    p = r["profile"]
    hot, cool = function(p, "hot"), function(p, "cool")
    whole = hot["self_ms"] + cool["self_ms"]
    assert abs(hot["self_ms"] / whole * 100 - 80) < 15, p["functions"]
    assert p["functions"][0]["function"] == "hot" and hot["file"] == name and hot["percent"] > 50
    assert hot["line"] == (2 if name == "main.py" else 1) and hot["total_ms"] >= hot["self_ms"]
    line = p["lines"][0]
    assert line["file"] == name and line["line"] in ((4, 5) if name == "main.py" else (3,)), p["lines"]
    assert line["text"] and line["percent"] > 50
    assert any(s["stack"].split(";")[-1].startswith("hot ") for s in p["stacks"])
    assert p["samples"] > 50 and p["sampled_ms"] > 100


BUSY_PY = "def busy():\n    s = 0\n    for i in range(30000000): s += i * i\n"
THEN_TELL = "require('fs').writeFileSync('done', '')"
BUSY_JS = "let s = 0; for (let i = 0; i < 2e8; i++) s = (s * 31 + i) % 1000003;"


@pytest.mark.skipif(not ROOT, reason="of all processes together only cgroups tell")
@pytest.mark.parametrize("code, name", [
    (BUSY_PY + "import os\nif os.fork() == 0:\n    busy()\n    os._exit(0)\nos.wait()\n", "main.py"),
    (BUSY_PY + """\
from multiprocessing import Process
if __name__ == '__main__':
    p = Process(target=busy); p.start(); p.join()
""", "main.py"),
    ("import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'for i in range(60000000): pass'])\n", "main.py"),
    (f"""\
const {{ Worker }} = require('worker_threads');
new Worker({json.dumps(BUSY_JS)}, {{ eval: true }});
""", "main.js"),
    (f"require('child_process').spawnSync(process.execPath, ['-e', {json.dumps(BUSY_JS)}]);\n", "main.js"),
    (f"""\
const fs = require('fs');
require('child_process').spawn(process.execPath, ['-e', {json.dumps(BUSY_JS + THEN_TELL)}]);
const cell = new Int32Array(new SharedArrayBuffer(4));
while (!fs.existsSync('done')) Atomics.wait(cell, 0, 0, 50);
""", "main.js"),
], ids=["fork", "multiprocessing", "subprocess", "worker", "child", "waiting"])
def test_time_that_no_profiler_saw_is_told(code, name):
    """A profiler sees one interpreter. The CPU time of other processes is known from outside. Time in which
    the program waits, for its child or for a CPU, is no CPU time that was seen."""
    r = profiled(code, name)
    note = r["profile"]["note"]
    seen = json.dumps({**r["profile"], "timeline": r["profile"]["timeline"][-2:]})
    assert r["verdict"] == "ok" and note and "other processes, worker threads" in note, (r["usage"], seen)


def test_threads_of_python_are_seen():
    code = BUSY_PY + "from threading import Thread\nt = Thread(target=busy); t.start(); t.join()\n"
    r = profiled(code, "main.py")
    assert function(r["profile"], "busy")["percent"] > 80 and r["profile"]["note"] is None, r["profile"]


@pytest.mark.parametrize("code, name", [("print(1)\n", "main.py"), ("console.log(1);\n", "main.js"), ("""\
const x: number = 1;
console.log(x);
""", "main.ts")])
def test_starting_a_language_is_no_time_to_tell_of(code, name, needs):
    needs("memory")
    assert profiled(code, name)["profile"]["note"] is None


def test_a_profiled_python_program_is_as_any_other():
    code = ("import sys, os\nprint(__name__, __file__, sys.argv, sys.path[0], __package__, __spec__)\n"
            "import __main__\nprint(__main__.sys is sys, 'json' in sys.modules)\n"
            "def f():\n    raise KeyError('k')\n"
            "import atexit; atexit.register(print, 'atexit')\n"
            "try:\n    f()\nexcept KeyError:\n    import traceback; traceback.print_exc()\nf()\n")
    path = public_dir() / "main.py"
    path.write_text(code)
    path.chmod(0o644)
    plain, seen = (belljar("run", "--local", "--json", "--no-diagnosis", *more, path, "--", "a", "b c").json
                   for more in ([], ["--profile"]))
    for field in ("stdout", "stderr", "exit_code", "verdict", "signal"):
        assert seen[field] == plain[field], field
    assert seen["profile"] and plain["profile"] is None
    assert [f["name"] for f in seen["files"]] == []


@pytest.mark.parametrize("code", ["import sys; sys.exit(7)", "import sys; sys.exit('words')", "def f(:\n",
                                  "import os; os._exit(3)",
                                  """\
import threading
def f(): 1/0
t = threading.Thread(target=f); t.start(); t.join(); print('on')""",
                                  "raise SystemExit", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"])
def test_a_profiled_python_program_ends_as_any_other(code):
    path = public_dir() / "main.py"
    path.write_text(code)
    path.chmod(0o644)
    plain, seen = (belljar("run", "--local", "--json", "--no-diagnosis", *more, path).json
                   for more in ([], ["--profile"]))
    for field in ("stdout", "exit_code", "verdict", "signal"):
        assert seen[field] == plain[field], field
    assert seen["stderr"].splitlines()[-1:] == plain["stderr"].splitlines()[-1:]


@pytest.mark.parametrize("code, name, function_name", [
    ("def spin():\n    n = 0\n    while True:\n        n += 1\nspin()\n", "main.py", "spin"),
    ("""\
function step(n) { let s = 0; for (let i = 0; i < 1e5; i++) s += i % n; return s; }
let x = 1; for (;;) x = step(x % 7 + 1);
""",
     "main.js", "step")])
def test_a_timeout_keeps_the_profile(code, name, function_name):
    r = profiled(code, name, "--timeout", "3s")
    assert r["verdict"] == "timeout"
    p = r["profile"]
    assert p["samples"] > 10 and p["lines"] and p["functions"][0]["file"] == name, p
    assert p["functions"][0]["function"] in (function_name, "(module)")
    assert p["timeline"][-1]["ms"] >= 2900


def test_every_language_is_measured_from_outside():
    r = profiled("x=$(head -c 20000000 /dev/zero | tr '\\0' a); for i in $(seq 1 40); do y=${x:0:100000}; done; sleep "
                 "0.3; echo ${#x}\n", "main.sh")
    assert r["verdict"] == "ok", r
    p = r["profile"]
    assert p["functions"] == p["lines"] == p["stacks"] == [] and p["samples"] == 0
    t = p["timeline"]
    assert 2 <= len(t) <= 240
    assert [m["ms"] for m in t] == sorted(m["ms"] for m in t)
    assert max(m["cpu_percent"] for m in t) > 5
    if p["note"] is None:  # there are cgroups
        assert max(m["memory_bytes"] for m in t) > 15e6 and max(m["pids"] for m in t) >= 2
    used = sum((b["ms"] - a["ms"]) * b["cpu_percent"] / 100 for a, b in zip(t, t[1:]))
    assert abs(used - r["usage"]["cpu_ms"]) < 0.3 * r["usage"]["cpu_ms"] + 30


def test_a_long_run_has_a_bounded_timeline():
    r = profiled("import time\nfor i in range(40): time.sleep(0.1)\n", "main.py")
    t = r["profile"]["timeline"]
    # The warden of a busy machine looks late and less often, but never more often.
    assert 20 <= len(t) <= 240 and t[-1]["ms"] > 3900 and t[0]["ms"] < t[-1]["ms"] / 2


def test_nothing_is_measured_unless_it_is_asked_for():
    path = public_dir() / "main.py"
    path.write_text("open('.belljar-report.json', 'w').write('{\"profile\": {\"samples\": 1}}')")
    r = belljar("run", "--local", "--json", "--out", ".belljar-report.json:/dev/null", path)
    assert r.json["profile"] is None


@pytest.mark.parametrize("what", [
    "open(R, 'w').write('{' * 3000000)",
    "open(R, 'w').write('{\"profile\": ' + '[' * 100000)",
    "open(R, 'w').write('{\"profile\": {\"sampled_ms\": NaN, \"samples\": Infinity}}')",
    "open(R, 'w').write('{\"profile\": {\"sampled_ms\": 1, \"samples\": 1, \"functions\": [{\"function\": 5}], "
    "\"lines\": {}}}')",
    "open(R, 'wb').write(b'\\xff' * 1000)",
    "os.symlink('/etc/passwd', R)",
    "os.mkfifo(R)",
    "os.mkdir(R)",
])
def test_a_report_that_a_guest_wrote_does_no_harm(what):
    r = profiled(f"import os\nR = '.belljar-report.json'\n{what}\nos._exit(0)\n", "main.py")
    assert r["verdict"] == "ok", r
    p = r["profile"]
    assert p["functions"] == [] and p["lines"] == [] and p["timeline"], p
    assert "root:" not in json.dumps(r)


def test_a_report_tells_only_what_was_asked_for():
    """Tables are SQL's to report: a profiled program that writes some has none, by the command as by the service."""
    table = '{"tables": [{"columns": [{"name": "x", "type": "integer"}], "rows": [[1]]}]}'
    r = profiled(f"import os\nopen('.belljar-report.json', 'w').write('{table}')\nos._exit(0)\n", "main.py")
    assert r["verdict"] == "ok" and r["tables"] is None and r["profile"], r


def test_the_terminal_view():
    r = profiled(HOT_PY, "main.py", text=True)
    err = r.err.decode()
    assert r.out.decode().startswith("done") and r.status == 0
    for word in ("profile", "functions", "lines", "calls", "over ", "cpu", "hot", "s += i * i", "main.py:5"):
        assert word in err, err
    assert "\033" not in err
    assert all(len(line) <= 110 for line in err.splitlines())


def test_a_service_profiles_too():
    with Service(*ROOMY) as s:
        r = s.run(code=HOT_PY, language="python", profile=True, limits={"wall_ms": 30000, "cpu_ms": 30000},
                  within=60 * PATIENCE)
        assert r["start"] == "cold" and function(r["profile"], "hot")["percent"] > 50
        assert r["profile"]["timeline"]
        stored = s.get(f"/v1/runs/{r['id']}").json
        assert stored["profile"] == r["profile"]
        plain = s.run(code="print(1)", language="python")
        assert plain["profile"] is None
        path = public_dir() / "main.py"
        path.write_text(HOT_PY)
        path.chmod(0o644)
        through = belljar("run", "--profile", "--timeout", "30s", path, environ={"BELLJAR_STATE": str(s.state)},
                          within=60 * PATIENCE)
        assert b"functions" in through.err and b"hot" in through.err, through


@pytest.mark.skipif(not ROOT, reason="level process as root is what is looked at")
def test_without_cgroups_it_is_said_what_is_missing():
    r = profiled("sum(i for i in range(3000000))", "main.py", "--isolation", "process")
    assert r["profile"]["note"] is None or "without cgroups" in r["profile"]["note"]
    assert r["profile"]["samples"] > 0 and r["profile"]["timeline"]
