"""Zygotes die, hang or are killed by the dozen. No run waits for them, a run is lost only with its own process, and
the service is warm again soon."""

import os
import random
import signal
import threading
import time

import pytest

import warm
from harness import PATIENCE, eventually
from hostview import descendants
from service import ROOMY, in_threads, since

CODE = {"python": "print(1)", "python-std": "import json\nprint(1)", "node": "console.log(1)", "bash": "echo 1"}


@pytest.fixture
def s(start_service, sealed):
    s = start_service(*ROOMY)
    if "bash" not in warm.pools(s):
        pytest.skip("no language declares a zygote")
    assert eventually(lambda: warm.filled(s), 30), warm.pools(s)
    return s


def found(s, comm, exe=""):
    return [p for p in descendants(s.pid) if p.comm == comm and exe in p.exe]


def end(p, number=signal.SIGKILL):
    try:
        os.kill(p.pid, number)
    except ProcessLookupError:
        pass


def bash(s, **fields):
    return s.run("echo 1", language="bash", **fields)


def assert_warm_again(s, language="bash", code="echo 1"):
    """The statistics may be a moment old, so runs are tried until one is warm."""
    assert eventually(lambda: s.run(code, language=language)["start"] == "warm", 20), warm.pools(s)


def test_zygote_that_hangs_is_replaced_and_its_runs_start_cold(s):
    end(found(s, "jar-zygote", "bash")[0], signal.SIGSTOP)
    started = time.monotonic()
    results = in_threads([lambda: bash(s) for _ in range(12)])
    assert [r["verdict"] for r in results] == ["ok"] * 12 and since(started) < 12 * PATIENCE, results
    assert "cold" in {r["start"] for r in results}
    assert_warm_again(s)


def test_service_ends_while_zygotes_hang(s):
    for p in found(s, "jar-zygote"):
        end(p, signal.SIGSTOP)
    for _ in range(8):
        s.post("/v1/runs", {"language": "bash", "code": "sleep 9", "wait": False})
    started = time.monotonic()
    s.stop(now=True)
    assert since(started) < 10 * PATIENCE


def test_zygote_that_dies_before_we_have_heard_it_boot_is_replaced(s):
    """Its hello and its end may come as one event."""
    if warm.pools(s)["node"]["zygote"] != "up":
        pytest.skip("Node has no zygote here")
    warden, old = s.half("warden"), found(s, "jar-zygote", "/node")[0]

    def booting():
        return [p for p in found(s, "jar-zygote", "/node") if p.pid != old.pid and p.state != "Z"]

    end(old)
    assert eventually(booting, 10, 0.001)
    end(warden, signal.SIGSTOP)  # Node takes a while: nobody has heard of it yet
    try:
        time.sleep(3 * PATIENCE)
        for p in booting():
            end(p)
    finally:
        end(warden, signal.SIGCONT)
    assert_warm_again(s, "node", "console.log(1)")


def test_run_whose_zygote_dies_goes_on_at_once(s):
    """The run starts cold. It does not wait for an answer that never comes."""
    for _ in range(6):
        zygote = found(s, "jar-zygote", "bash")
        killer = threading.Timer(random.random() * 0.02, lambda: [end(p) for p in zygote])
        killer.start()
        started = time.monotonic()
        results = in_threads([lambda: bash(s) for _ in range(8)])
        killer.join()
        assert [r["verdict"] for r in results] == ["ok"] * 8 and since(started) < 5 * PATIENCE, results
        assert_warm_again(s)
    warm.assert_only_pools(s)


def test_service_survives_the_death_of_anything_below_it(s):
    """Under load, for a while: the process that was killed is lost, and no other."""
    until, lost, verdicts = time.monotonic() + 6, [], []

    def client(i):
        while time.monotonic() < until:
            kind, code = random.choice(list(CODE.items()))
            r = s.post("/v1/runs", {"language": kind.partition("-")[0], "code": code}, within=40)
            verdicts.append(r.json.get("verdict") or r.status)

    def killer():
        while time.monotonic() < until:
            time.sleep(random.random() * 0.1)
            below = [p for p in descendants(s.pid) if p.comm in ("jar-zygote", "jar-init", "jar-embryo")]
            if below:
                lost.append(random.choice(below))
                end(lost[-1])

    in_threads([lambda i=i: client(i) for i in range(4)] + [killer])
    bad = [v for v in verdicts if v != "ok"]
    assert verdicts and len(bad) <= len([p for p in lost if p.comm != "jar-zygote"]), bad
    assert set(bad) <= {"internal_error", "runtime_error"}, bad
    warm.assert_only_pools(s)
    # A zygote that was killed several times is restarted with a growing delay, up to one minute.
    for kind, code in CODE.items():
        until = time.monotonic() + 70
        while (start := s.run(code, language=kind.partition("-")[0])["start"]) != "warm" and time.monotonic() < until:
            time.sleep(0.2)
        assert start == "warm", kind
