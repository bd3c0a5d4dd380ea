"""Overload is answered, never suffered: a bounded queue, turns by key, 503 with Retry-After (R3.4)."""

import glob
import os
import time

import pytest

from harness import eventually
from service import Service, in_threads, sleeper


def counts(s, **how):
    return s.get("/v1/stats", **how).json["now"]


def hold(s, n, key=None, unix=False, seconds=60):
    """n runs that sleep; their ids."""
    return [s.run(sleeper(seconds), wait=False, status=202, key=key, unix=unix, limits={"wall_ms": "2m"})["id"]
            for _ in range(n)]


def assert_busy(reply):
    assert (reply.status, reply.error["code"]) == (503, "busy"), reply
    assert 1 <= int(reply.headers["Retry-After"]) <= 600


@pytest.fixture
def narrow(start_service):
    return start_service("--set", "runs.max=2", "--set", "runs.queue=1")


def test_service_fourth_of_four_is_told_to_come_back(narrow):
    s = narrow
    ids = hold(s, 3)
    assert eventually(lambda: counts(s) == {"running": 2, "queued": 1, "waiting": 0}), counts(s)
    for body in ({"wait": False}, {}, {"stream": True}):
        assert_busy(s.post("/v1/runs", {"language": "python", "code": "print(1)", **body}))
    assert [s.get(f"/v1/runs/{i}").json["state"] for i in ids] == ["running", "running", "queued"]
    s.delete(f"/v1/runs/{ids[0]}")
    assert eventually(lambda: s.get(f"/v1/runs/{ids[2]}").json["state"] == "running")
    for i in ids[1:]:
        s.delete(f"/v1/runs/{i}")
    assert eventually(lambda: counts(s)["running"] == 0)
    assert s.run("print('room again')")["stdout"] == "room again\n"
    assert len(s.get("/v1/runs").json["runs"]) == 4  # refused ones left no trace
    assert "belljar_runs_refused_total 3" in s.get("/metrics").body.decode()


def test_service_queued_run_can_be_cancelled(narrow):
    s = narrow
    first, second, waiting = hold(s, 3)
    assert eventually(lambda: s.get(f"/v1/runs/{waiting}").json["state"] == "queued")
    assert s.delete(f"/v1/runs/{waiting}").status == 202
    r = s.finished(waiting)
    assert (r["verdict"], r["stdout"], r["timings"]["started_at"]) == ("cancelled", "", None), r
    for i in (first, second):
        s.delete(f"/v1/runs/{i}")


def test_service_waiting_time_is_told(narrow):
    s = narrow
    first, _ = hold(s, 2)
    late = s.run("print('late')", wait=False, status=202)["id"]
    time.sleep(0.5)
    s.delete(f"/v1/runs/{first}")
    r = s.finished(late)
    assert r["stdout"] == "late\n" and r["timings"]["queued_ms"] > 300


def test_service_stream_of_a_queued_run_says_so(narrow):
    s = narrow
    first, _ = hold(s, 2)
    with s.events(body={"language": "python", "code": "print(1)"}) as events:
        assert next(events)["event"] == "queued"
        s.delete(f"/v1/runs/{first}")
        rest = [e["event"] for e in events]
    assert rest[0] == "started" and rest[-1] == "done"


def test_service_other_surfaces_are_told_too(narrow):
    s = narrow
    hold(s, 3)
    reply = s.post("/execute", {"generated_code": "print(1)", "timeout": 5, "language": "python"})
    assert reply.status == 503 and reply.json["process_status"] == "error" and reply.headers["Retry-After"], reply
    made = s.post("/api/artifacts/create", {"content": "print(1)", "title": "t", "language": "python"}).json
    reply = s.post(f"/api/artifacts/{made['id']}/execute", {})
    assert reply.status == 503 and "detail" in reply.json and reply.headers["Retry-After"], reply


def test_service_hundred_at_once_are_all_answered(narrow):
    s = narrow
    replies = in_threads([lambda: s.post("/v1/runs", {"language": "python", "code": "print(1)"}) for _ in range(100)])
    statuses = [r.status for r in replies]
    assert set(statuses) <= {200, 503} and statuses.count(200) >= 3, statuses
    assert all(r.json["stdout"] == "1\n" for r in replies if r.status == 200)
    assert s.run("print('well')")["stdout"] == "well\n"


def test_service_key_has_a_maximum_of_its_own(start_service):
    s = start_service("--set", "runs.max=8", "--set", "runs.queue=8", "--set", "runs.max_per_key=2")
    many, few = s.add_key("many", "run,read"), s.add_key("few", "run,read", "--max-runs", "1")
    assert eventually(lambda: s.get("/v1/runs", key=many).status == 200)
    ids = hold(s, 4, key=many)
    own = hold(s, 2, key=few)
    state = lambda i: s.get(f"/v1/runs/{i}", key=many).json["state"]
    assert eventually(lambda: [state(i) for i in ids + own] == ["running"] * 2 + ["queued"] * 2 + ["running", "queued"])
    s.delete(f"/v1/runs/{ids[0]}", key=many)
    assert eventually(lambda: state(ids[2]) == "running")


def test_service_turns_go_by_key_not_by_arrival(start_service):
    """One key's many runs do not keep another's one waiting behind them all."""
    s = start_service("--set", "runs.max=1", "--set", "runs.queue=20")
    greedy, modest = s.add_key("greedy", "run,read"), s.add_key("modest", "run,read")
    assert eventually(lambda: s.get("/v1/runs", key=modest).status == 200)
    first = hold(s, 1, unix=True)[0]
    queue = [s.run("pass", wait=False, status=202, key=greedy)["id"] for _ in range(6)]
    one = s.run("pass", wait=False, status=202, key=modest)["id"]
    s.delete(f"/v1/runs/{first}", unix=True)
    for i in queue + [one]:
        s.finished(i, key=modest)
    started = {i: s.get(f"/v1/runs/{i}", key=modest).json["timings"]["started_at"] for i in queue + [one]}
    assert started[one] <= sorted(started[i] for i in queue)[2], started


def test_service_one_key_does_not_fill_the_line(start_service):
    s = start_service("--set", "runs.max=1", "--set", "runs.queue=4")
    greedy, modest = s.add_key("greedy", "run,read"), s.add_key("modest", "run,read")
    assert eventually(lambda: s.get("/v1/runs", key=modest).status == 200)
    statuses = [s.post("/v1/runs", {"language": "python", "code": sleeper(60), "wait": False}, key=greedy).status
                for _ in range(6)]
    assert statuses.count(202) < 5 and statuses[-1] == 503, statuses
    assert s.run("pass", wait=False, status=202, key=modest)["state"] == "queued"


def test_service_neighbour_is_unaffected_by_a_bomb(service, needs):
    needs("pids", "memory")
    bomb = "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass"
    ids = [service.run(bomb, wait=False, status=202, limits={"pids": 32, "wall_ms": "5s"})["id"] for _ in range(2)]
    start = time.monotonic()
    assert service.run("print('fine')")["stdout"] == "fine\n" and time.monotonic() - start < 30
    for i in ids:
        service.delete(f"/v1/runs/{i}")
        assert service.finished(i)["verdict"] in ("cancelled", "timeout", "cpu_timeout")


def test_service_nonsense_settings_are_refused():
    for setting, words in (("runs.max=-1", "runs.max"), ("runs.max=x", "runs.max"), ("runs.mx=1", "runs.max"),
                           ("runs.max", "="),
                           ("limits.memory=0", "limits.memory"), ("http.head_timeout=0", "http.head_timeout"),
                           ("", "=")):
        s = Service("--set", setting)
        try:
            s.start(wait=False)
            assert s.popen.wait(30) not in (0, None), setting
            assert words in s.log() and s.ready_line() is None, (setting, s.log())
        finally:
            s.end()


def test_service_limits_follow_the_settings(start_service):
    s = start_service("--set", "limits.wall_ms=700ms", "--set", "limits.memory.max=128m", "--set", "limits.memory=64m")
    r = s.run("import time\ntime.sleep(60)")
    assert (r["verdict"], r["limits"]["wall_ms"], r["limits"]["memory"]) == ("timeout", 700, 64 << 20)
    reply = s.post("/v1/runs", {"language": "python", "code": "1", "limits": {"memory": "129m"}})
    assert reply.status == 400 and reply.error["field"] == "limits.memory" and "128m" in reply.error["message"]


def parent_cgroups(s):
    """The directories above all jars of this service, of every hierarchy."""
    return glob.glob(f"/sys/fs/cgroup/**/belljar-{s.pid}-*", recursive=True)


def bound_of(s, *files):
    for directory in parent_cgroups(s):
        for name in files:
            if os.path.exists(f"{directory}/{name}"):
                with open(f"{directory}/{name}") as f:
                    return int(f.read())
    return None


def test_service_all_jars_together_are_bounded_by_the_host(start_service, needs):
    needs("memory", "pids")
    s = start_service("--set", "runs.memory=640m", "--set", "runs.pids=320")
    s.run("print(1)")
    assert bound_of(s, "memory.limit_in_bytes", "memory.max") == 720 << 20  # and an eighth for jars that wait
    assert bound_of(s, "pids.max") == 360


def test_service_runs_wait_for_the_memory_that_others_are_promised(start_service):
    s = start_service("--set", "runs.memory=600m", "--set", "runs.max=8")
    ids = hold(s, 3)  # of 256m each
    assert eventually(lambda: counts(s) == {"running": 2, "queued": 1, "waiting": 0}), counts(s)
    s.delete(f"/v1/runs/{ids[0]}")
    assert eventually(lambda: s.get(f"/v1/runs/{ids[2]}").json["state"] == "running")
    reply = s.post("/v1/runs", {"language": "python", "code": "1", "limits": {"memory": "700m"}})
    assert reply.status == 400, reply
    for word in ("memory '700m'", "runs.memory '600m'", "ask for less"):
        assert word in reply.error["message"], reply.error
    for i in ids[1:]:
        s.delete(f"/v1/runs/{i}")


def test_service_default_bounds_come_from_the_machine(start_service, needs):
    needs("memory", "pids")
    s = start_service()
    s.run("print(1)")
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < bound_of(s, "memory.limit_in_bytes", "memory.max") <= max(machine, 2 << 30)
    with open("/proc/sys/kernel/pid_max") as f:
        assert 0 < bound_of(s, "pids.max") <= int(f.read())
