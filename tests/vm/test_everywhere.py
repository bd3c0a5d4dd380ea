"""These work for every user, in every cgroup: each language, compiling, limits, measuring, lists of
commands, servers, and nothing left behind. Limits that a place cannot hold are skipped there, by name.

Compilers and servers get a minute or more: the processor may be an emulated one.
"""
import os
import signal

import pytest

import compiled
import hostview
import languages
import sql
from harness import BRIEF, BRIEF_MS, PATIENCE, belljar, eventually, public_dir, run_py, run_sh, start
from service import ROOMY, Service

COMPILED = ("c", "cpp", "go")
NAMES = {"python": "main.py", "javascript": "main.js", "bash": "main.sh",
         **{lang: compiled.NAMES[lang] for lang in COMPILED}}
ROOM = ("--timeout", "120s", "--cpu-time", "120s", "--memory", "512m",
        "--compile-limit", "timeout=400s", "--compile-limit", "cpu-time=400s", "--compile-limit", "memory=1g")
WITHIN = 600 / PATIENCE


@pytest.fixture(autouse=True)
def nothing_is_left(host):
    """Of any of these."""


def run_file(lang, code, *options, room=ROOM, args=()):
    place = public_dir()
    path = place / NAMES[lang]
    path.write_text(code)
    path.chmod(0o644)
    r = belljar("run", "--local", "--json", "-l", lang, *room, *options, path, *(["--", *args] if args else []),
                within=WITHIN)
    path.unlink()
    place.rmdir()
    return r.json


# ---- languages ----

@pytest.mark.parametrize("lang", NAMES)
def test_hello(lang):
    r = run_file(lang, languages.PROGRAMS[lang]["hello"].code)
    assert (r["verdict"], r["stdout"], r["stderr"]) == ("ok", "hello, world\n", ""), r


@pytest.mark.parametrize("lang", sql.LANGUAGES)
def test_sql(lang):
    r = sql.ask("CREATE TABLE t(a int); INSERT INTO t VALUES (1), (2); SELECT sum(a) AS total FROM t;", lang,
                options=ROOM[:6], within=WITHIN).json
    assert r["verdict"] == "ok" and r["tables"][-1]["rows"] == [[3]], r


def test_a_program_is_compiled_once():
    room = {"wall_ms": 300000, "cpu_ms": 300000}
    with Service(*ROOMY, "--set", "pools.max=0") as s:
        first, again = (s.run(compiled.HELLO["c"], language="c", compile_limits=room, within=WITHIN) for _ in range(2))
    for r in (first, again):
        assert (r["verdict"], r["stdout"], r["compile"]["verdict"]) == ("ok", "hello, world\n", "ok"), r
    assert (first["compile"]["cached"], again["compile"]["cached"]) == (False, True)
    assert first["compile"]["usage"]["cpu_ms"] > 0, first["compile"]
    assert first["compile"]["usage"]["memory_peak_bytes"] > 1 << 20, first["compile"]


# ---- limits, of compilers and programs ----

def test_memory_limit_of_the_compiler(needs):
    needs("memory")
    r = run_file("cpp", compiled.BOMB, room=(*ROOM[:-2], "--compile-limit", "memory=64m"))
    assert (r["verdict"], r["compile"]["verdict"], r["limits_hit"]) == ("compile_error", "memory_limit", ["memory"]), r
    assert r["compile"]["usage"]["memory_peak_bytes"] <= 64 << 20, r["compile"]["usage"]


def test_memory_limit_of_a_compiled_program(needs):
    needs("memory")
    code = """\
#include <stdlib.h>
#include <string.h>
int main(void) { for (;;) memset(malloc(1 << 20), 1, 1 << 20); }
"""
    r = run_file("c", code, "--memory", "48m")
    assert (r["verdict"], r["limits_hit"], r["compile"]["verdict"]) == ("memory_limit", ["memory"], "ok"), r
    assert 40 << 20 <= r["usage"]["memory_peak_bytes"] <= 48 << 20, r["usage"]


def test_memory_limit_holds_for_children_and_files(needs):
    needs("memory")
    code = "head -c 30000000 /dev/zero > /tmp/a; x=$(head -c 60000000 /dev/zero | tr '\\0' a); echo alive"
    r = run_sh(code, memory="64m", timeout="60s", cpu_time="60s")
    assert (r.verdict, r.hits) == ("memory_limit", ["memory"]) and "alive" not in r.stdout, r


def test_process_limit(needs):
    needs("pids")
    code = "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(60)"
    r = run_py(code, pids=16, timeout="60s")
    assert (r.verdict, r.hits) == ("process_limit", ["pids"]) and r.usage["pids_peak"] == 16, r


def test_timeout_ends_the_whole_tree():
    r = run_sh("for i in 1 2 3; do (while :; do :; done) & done; echo before; wait", timeout=BRIEF, cpu_time="60s",
               cpu_percent=200)
    assert (r.verdict, r.hits, r.stdout) == ("timeout", ["wall_ms"], "before\n"), r
    assert r.usage["wall_ms"] >= BRIEF_MS, r.usage


# ---- measured from outside ----

STEPS = """import time
def until(at):
    while time.process_time() < at: pass
start = time.process_time()
time.sleep({step})
held = bytearray(80 << 20)
until(start + {step})
del held
time.sleep({step})
"""


def test_memory_and_cpu_over_time_are_plausible(needs):
    """It sleeps, then holds 80 MiB and computes, then lets go and sleeps: all of that is to be seen, and adds up."""
    needs("memory", "pids")
    r = run_file("python", STEPS.format(step=0.4 * PATIENCE), "--profile")
    assert r["verdict"] == "ok", r
    t, used = r["profile"]["timeline"], r["usage"]
    assert [m["ms"] for m in t] == sorted(m["ms"] for m in t) and 10 <= len(t) <= 240, t
    assert abs(t[-1]["ms"] - used["wall_ms"]) < 0.1 * used["wall_ms"] + 20, (t[-1], used)
    most = max(m["memory_bytes"] for m in t)
    assert 80 << 20 <= most <= used["memory_peak_bytes"] <= 160 << 20, (most, used)
    before = [m["memory_bytes"] for m in t if m["ms"] < 0.2 * used["wall_ms"]]
    assert 1 << 20 < before[-1] < most - (60 << 20) and t[-2]["memory_bytes"] < most - (60 << 20), t
    summed = sum((b["ms"] - a["ms"]) * b["cpu_percent"] / 100 for a, b in zip(t, t[1:]))
    assert abs(summed - used["cpu_ms"]) < 0.3 * used["cpu_ms"] + 30, (summed, used)
    assert all(0 <= m["cpu_percent"] <= 250 and 0 <= m["pids"] <= 8 for m in t), t
    assert max(m["cpu_percent"] for m in t) > 30 and min(m["cpu_percent"] for m in t[1:]) < 30, t


# ---- lists of commands ----

def test_listed_commands_run_and_no_others():
    r = run_sh("ls /etc/hostname; cat /etc/hostname; echo $?", allow=["ls"], timeout="60s")
    assert (r.verdict, r.stdout) == ("ok", "/etc/hostname\n126\n") and "cat: Permission denied" in r.stderr, r


# ---- servers that are up before their job ----

def test_warm_and_hatched_starts():
    """A job in a jar that waited pays for itself alone."""
    with Service(*ROOMY, "--set", "pools.preload=used") as s:
        first = s.run("print(1)", within=WITHIN)
        assert first["verdict"] == "ok", first
        assert eventually(lambda: s.get("/v1/stats").json["pools"]["python"]["ready"] >= 1,
                          60), s.get("/v1/stats").json["pools"]
        r = s.run("x = bytearray(20 << 20)\nprint(2)", within=WITHIN)
        assert (r["start"], r["verdict"], r["stdout"]) == ("warm", "ok", "2\n"), r
        if "memory" not in r["isolation"]["unenforced"]:
            assert 20 << 20 <= r["usage"]["memory_peak_bytes"] <= 60 << 20, r["usage"]
        assert r["usage"]["cpu_ms"] <= 1.2 * r["usage"]["wall_ms"] + 20, r["usage"]


def test_postgres_that_waited(needs):
    sql.prepare()
    with Service(*ROOMY, "--set", "pools.preload=used", "--set", "limits.memory.max=1g") as s:
        room = {"wall_ms": 60000, "cpu_ms": 60000}
        cold = s.run("SELECT 1 AS a", language="postgres", limits=room, within=WITHIN)
        assert (cold["verdict"], cold["tables"][0]["rows"]) == ("ok", [[1]]), cold
        pool = lambda: s.get("/v1/stats").json["pools"]["postgres"]  # noqa: E731
        assert eventually(lambda: pool()["ready"] >= 1, 60), (pool(), s.log())
        r = s.run("SELECT 2 AS a", language="postgres", limits=room, within=WITHIN)
        assert (r["start"], r["verdict"], r["tables"][0]["rows"]) == ("warm", "ok", [[2]]), r
        needs("memory")
        r = s.run("SELECT length(string_agg(repeat('x', 1000000), '')) FROM generate_series(1, 900)",
                  language="postgres",
                  limits={**room, "memory": "96m"}, within=WITHIN)
        assert r["start"] in ("warm", "hatched") and r["verdict"] == "memory_limit", r


# ---- nothing is left ----

SLEEPER = "import os, time\nfor _ in range(3): os.fork()\nos.write(1, b'go\\n')\ntime.sleep(120)"


@pytest.mark.parametrize("who", ["belljar", "belljar-warden"])
def test_nothing_is_left_after_a_kill(who):
    """Processes and cgroups. When belljar itself dies, the next run removes the rest."""
    before = hostview.cgroups()
    with start(SLEEPER, json=False, timeout="100s") as running:
        for _ in range(8):
            assert running.read_line() == "go"
        family = hostview.descendants(running.pid)
        victim = running.pid if who == "belljar" else next(p.pid for p in family if p.comm == who)
        os.kill(victim, signal.SIGKILL)
        running.popen.wait(20 * PATIENCE)
    # noqa: E731
    gone = lambda: not [p for p in family if (q := hostview.process(p.pid)) and q.start == p.start and q.state != "Z"]
    assert eventually(gone, 10)
    assert run_py("print(1)").stdout == "1\n"
    assert eventually(lambda: hostview.cgroups() <= before, 10), hostview.cgroups() - before
