"""Warm starts as a caller and an operator see them: the start of a run, the jars that are ready, and the settings of
pools."""

import json
import os
import re
import signal
import time

import pytest

from harness import PATIENCE, eventually
from hostview import descendants, slurp
from service import Service, in_threads, sleeper, versions_known
from warm import filled

STARTS = {"warm", "hatched", "cold"}
POOL = {"zygote", "why", "ready", "building", "target", "starts", "forks", "zygotes", "deaths", "discarded"}
COUNTS = POOL - {"zygote", "why", "starts"}


def stats(s):
    return s.get("/v1/stats").json


def pools(s):
    return stats(s)["pools"]


def sample(s, name, **labels):
    """The value of a metric."""
    text = s.get("/metrics").body.decode()
    inside = ",".join(f'{k}="{v}"' for k, v in labels.items())
    match = re.search(rf"^belljar_{name}{re.escape('{' + inside + '}' if inside else '')} (\S+)$", text, re.M)
    assert match, (name, labels)
    return float(match.group(1))


def bash(s, code="echo hi", **fields):
    return s.run(code, language="bash", **fields)


@pytest.fixture
def warm(start_service, sealed):
    """A service whose bash is warm; skipped where there is no such thing."""
    s = start_service()
    if "bash" not in pools(s):
        pytest.skip("no language declares a zygote")
    eventually(lambda: pools(s)["bash"]["zygote"] in ("up", "failed"))
    found = pools(s)["bash"]
    assert found["zygote"] == "up", found
    assert eventually(lambda: pools(s)["bash"]["ready"] >= 1), pools(s)
    return s


# ---- results, statistics, metrics ----


def test_service_result_tells_how_it_started(service):
    """R3.1"""
    r = service.run("print(1)")
    assert r["start"] in STARTS
    assert service.get(f"/v1/runs/{r['id']}").json["start"] == r["start"]
    assert service.logged("run.finished", r["id"], f"start={r['start']}")
    assert service.all_events(body={"language": "python", "code": "print(1)"})[-1]["result"]["start"] in STARTS
    batch = service.post("/v1/batches", {"runs": [{"language": "bash", "code": "echo 1"}]}).json
    assert batch["results"][0]["start"] in STARTS


def test_service_run_that_never_started_has_no_start(start_service):
    s = start_service("--set", "runs.max=1", "--set", "runs.queue=4")
    first, second = (s.run(sleeper(60), wait=False, status=202)["id"] for _ in range(2))
    assert eventually(lambda: s.get(f"/v1/runs/{first}").json.get("stdout_bytes"))
    s.delete(f"/v1/runs/{second}")
    assert s.finished(second)["start"] is None
    s.delete(f"/v1/runs/{first}")
    assert s.finished(first)["start"] in STARTS


def test_service_statistics_show_every_pool(service):
    """R8.8"""
    before = stats(service)
    service.run("print(1)")
    bash(service)
    after = stats(service)
    assert isinstance(after["memory_pressure"], bool) and set(after["starts"]) == STARTS
    assert sum(after["starts"].values()) == sum(before["starts"].values()) + 2
    for name, pool in after["pools"].items():
        assert set(pool) == POOL and set(pool["starts"]) == STARTS, (name, pool)
        assert pool["zygote"] in ("off", "booting", "up",
                                  "failed") and (pool["why"] is not None) is (pool["zygote"] == "failed"), pool
        assert all(isinstance(pool[k], int) and pool[k] >= 0 for k in COUNTS), pool


def test_service_metrics_show_every_pool(service):
    """R8.8"""
    kinds = pools(service)
    before = {k: sum(sample(service, "starts_total", kind=k, start=s) for s in STARTS) for k in [*kinds, "none"]}
    bash(service)
    after = {k: sum(sample(service, "starts_total", kind=k, start=s) for s in STARTS) for k in [*kinds, "none"]}
    assert sum(after.values()) == sum(before.values()) + 1
    for kind in kinds:
        for name in ("pool_ready", "pool_building", "pool_target", "zygote_up", "zygote_forks_total", "zygotes_total",
                     "zygote_deaths_total", "pool_discarded_total"):
            assert sample(service, name, kind=kind) >= 0
    assert sample(service, "memory_pressure") in (0, 1)


def test_doctor_shows_what_the_service_has_ready(service):
    told = json.loads(service.cli("doctor", "--json").out)["warm"]
    assert set(told) == {"pools", "memory_pressure"} and set(told["pools"]) == set(pools(service))
    assert "Warm starts of the running service:" in service.cli("doctor").out.decode()

    def both_say_the_same():  # a zygote may come up between the two
        told = json.loads(service.cli("doctor", "--json").out)["warm"]["pools"]
        text = service.cli("doctor").out.decode()
        return all(re.search(rf"\[{'x' if pool['zygote'] == 'up' else ' '}\] {kind} ", text) for kind,
                   pool in told.items())

    assert eventually(both_say_the_same, 20)


def test_doctor_without_a_service_says_how_to_see_warm_starts(service):
    nowhere = {"BELLJAR_STATE": "/nonexistent/belljar"}
    assert json.loads(service.cli("doctor", "--json", environ=nowhere).out)["warm"] is None
    assert "belljar serve" in service.cli("doctor", environ=nowhere).out.decode()


# ---- warm starts ----


def test_service_first_run_is_warm(warm):
    """R3.1"""
    assert bash(warm)["start"] == "warm"
    assert stats(warm)["pools"]["bash"]["starts"]["warm"] == 1 and stats(warm)["starts"]["warm"] == 1


def test_service_burst_is_answered_whole_and_pools_follow_it(warm):
    """R3.4"""
    before = pools(warm)["bash"]["target"]
    replies = in_threads([lambda: warm.post("/v1/runs", {"language": "bash", "code": "echo hi"}) for _ in range(100)])
    assert [r.status for r in replies] == [200] * 100, [r for r in replies if r.status != 200][:3]
    results = [r.json for r in replies]
    assert all((r["verdict"], r["stdout"]) == ("ok", "hi\n")
               for r in results), [r for r in results if r["verdict"] != "ok"][:2]
    assert "cold" not in {r["start"] for r in results}, [r["start"] for r in results]
    assert eventually(lambda: pools(warm)["bash"]["target"] > before)
    assert eventually(lambda: (p := pools(warm)["bash"])["ready"] >= p["target"], 20), pools(warm)["bash"]


def test_service_writable_root_starts_cold(warm):
    r = bash(warm, read_only=False)
    assert (r["start"], r["stdout"]) == ("cold", "hi\n")


def test_service_without_pools_every_start_is_cold(start_service):
    s = start_service("--set", "pools.max=0")
    assert {bash(s)["start"], s.run("print(1)")["start"]} == {"cold"}
    assert all((p["zygote"] in ("off", "failed"), p["ready"], p["target"], p["forks"]) == (True, 0, 0, 0)
               for p in pools(s).values())
    # languages are asked for their versions, one after the other
    assert eventually(lambda: not [p for p in descendants(s.pid) if not p.comm.startswith("belljar")], 20)


def test_service_unused_kinds_are_not_booted_when_told_so(start_service, sealed):
    s = start_service("--set", "pools.preload=used")
    if "bash" not in pools(s):
        pytest.skip("no language declares a zygote")
    time.sleep(0.5)
    assert pools(s)["bash"]["zygote"] == "off" and pools(s)["bash"]["target"] == 0
    assert bash(s)["start"] == "cold"
    assert eventually(lambda: pools(s)["bash"]["zygote"] == "up"), pools(s)
    assert eventually(lambda: pools(s)["bash"]["ready"] > 0) and bash(s)["start"] == "warm"


def test_service_pools_are_empty_while_memory_is_short(start_service, sealed):
    s = start_service("--set", "pools.memory_floor=1000g")
    assert eventually(lambda: stats(s)["memory_pressure"])
    assert s.logged("pools.emptied") and sample(s, "memory_pressure") == 1
    assert all(p["target"] == 0 for p in pools(s).values())
    assert bash(s)["start"] in ("hatched", "cold")


def test_service_sighup_changes_pools(start_service, sealed):
    s = Service()
    config = s.scratch / "config"
    s.options = ["--config", str(config)]
    config.write_text("pools.max = 0\n")
    with s:
        if "bash" not in pools(s):
            pytest.skip("no language declares a zygote")
        assert bash(s)["start"] == "cold"
        config.write_text("pools.max = 8\npools.min = 3\n")
        s.signal(signal.SIGHUP)
        assert eventually(lambda: pools(s)["bash"]["ready"] >= 1), pools(s)
        assert bash(s)["start"] == "warm"
        assert eventually(lambda: pools(s)["bash"]["target"] == 3), pools(s)
        config.write_text("pools.max = 0\n")
        s.signal(signal.SIGHUP)
        assert eventually(lambda: (p := pools(s)["bash"])["zygote"] == "off" and p["ready"] == 0), pools(s)
        assert bash(s)["start"] == "cold"


@pytest.mark.parametrize("setting, words", [
    ("pools.preload=pithon", ("pools.preload 'pithon'", "all, used")),
    ("pools.preload=", ("pools.preload ''", "all, used")),
    ("pools.max=x", ("pools.max 'x'",)), ("pools.max=513", ("from 0 to 512",)),
    ("pools.zygote_forks=0", ("pools.zygote_forks '0'",)),
    ("pools.zygote_age=1ms", ("pools.zygote_age '1ms'",)), ("pools.memory_floor=ten", ("pools.memory_floor 'ten'",)),
])
def test_service_nonsense_about_pools_is_refused(setting, words):
    s = Service("--set", setting)
    try:
        s.start(wait=False)
        assert s.popen.wait(30) not in (0, None)
        assert all(w in s.log() for w in words), s.log()
    finally:
        s.end()


@pytest.mark.release_only  # measures CPU time
def test_service_at_rest_takes_no_cpu(warm):
    """It comes to rest: in some six seconds its processes take at most one percent of a CPU. The keeper and the
    warden exchange a message every five seconds, so there is one in them."""
    assert eventually(lambda: filled(warm) and versions_known(warm), 60), pools(warm)
    mine = [p.pid for p in descendants(warm.pid)]
    window_s = 6

    def ticks():
        return sum(sum(map(int, slurp(f"/proc/{pid}/stat").rpartition(b")")[2].split()[11:15])) for pid in mine)

    def at_rest():
        before = ticks()
        time.sleep(window_s)
        return ticks() - before <= 0.01 * window_s * os.sysconf("SC_CLK_TCK") * PATIENCE

    assert eventually(at_rest, 30)


def test_service_keeps_its_starts_when_the_warden_dies(warm):
    bash(warm)
    os.kill(warm.half("warden").pid, signal.SIGKILL)
    assert eventually(lambda: sample(warm, "warden_losses_total") == 1)
    assert eventually(lambda: pools(warm)["bash"]["ready"] >= 1, 20)
    r = bash(warm)
    assert r["start"] == "warm" and pools(warm)["bash"]["starts"]["warm"] == 2, r


def test_wall_time_is_not_below_the_cpu_time_of_one_thread(service):
    """R1.3: both count from the start of the program. A little of the CPU time of the jar's init may be in it."""
    programs = [("python", "pass"), ("bash", "x=1"), ("perl", "1")]

    def twenty(language, code):
        return [service.run(code, language=language) for _ in range(20)]

    results = [r for rows in in_threads([lambda p=p: twenty(*p) for p in programs]) for r in rows]
    assert {r["start"] for r in results} >= {"warm", "cold"}, {r["start"] for r in results}
    wrong = [(r["language"], r["start"], r["usage"]) for r in results
             if r["usage"]["cpu_ms"] > r["usage"]["wall_ms"] + 0.5]
    assert not wrong, wrong
