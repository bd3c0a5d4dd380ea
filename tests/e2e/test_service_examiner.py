"""The processes that read output of guests: their rights, and a service that loses them."""

import os
import signal
import time

import pytest

from harness import eventually
from hostview import descendants
from service import ROOMY, Service

FAILS = "print(totl)"
PAUSE = 10  # seconds without readers, after three losses in a row


@pytest.fixture
def s():
    with Service(*ROOMY) as service:
        yield service


def readers(s):
    return [p.pid for p in descendants(s.popen.pid) if p.comm == "belljar-reader"]


def ready(s):
    """Four readers, each of which is confined already."""
    def look():
        found = readers(s)
        return found if len(found) == 4 and all(status_of(p).get("Seccomp") == "2" for p in found) else None
    return eventually(look, 60)


def status_of(pid):
    try:
        with open(f"/proc/{pid}/status") as f:
            return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
    except OSError:
        return {}


def lost(s):
    line, = (x for x in s.get("/metrics").body.decode().splitlines() if x.startswith("belljar_diagnoses_lost_total "))
    return int(line.split()[1])


def explained(s):
    """A run whose diagnosis came back. A machine that is busy may lose one."""
    def look():
        result = s.run(FAILS)
        assert (result["verdict"], result["exit_code"]) == ("runtime_error", 1)
        return result["diagnosis"]
    return eventually(look, 60)


def test_reader_has_one_socket_and_no_rights(s):
    """EXAMINER: one socket, no capability, a filter, no dump, as seen by the kernel."""
    keeper = s.half("keeper").pid
    for pid in ready(s):
        status = status_of(pid)
        assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"
        assert {status[k] for k in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
        assert status["Uid"] == status_of(keeper)["Uid"]
        if os.geteuid() == 0:  # others may not look: a reader is not dumpable
            held = [os.readlink(f"/proc/{pid}/fd/{n}") for n in os.listdir(f"/proc/{pid}/fd")]
            assert len(held) == 1 and held[0].startswith("socket:"), held


def test_readers_that_died_are_replaced(s):
    before = ready(s)
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    after = eventually(lambda: not set(readers(s)) & set(before) and ready(s))
    assert explained(s)["type"] == "NameError" and not set(after) & set(before)


def test_a_reader_that_hangs_loses_a_diagnosis_only(s):
    stuck = ready(s)
    for pid in stuck:
        os.kill(pid, signal.SIGSTOP)
    result = s.run(FAILS)
    assert (result["verdict"], result["exit_code"], result["diagnosis"]) == ("runtime_error", 1, None)
    assert "NameError" in result["stderr"] and lost(s) == 1
    assert s.run("print(1)")["stdout"] == "1\n"  # a run that ends well needs no reader
    eventually(lambda: set(stuck) - set(readers(s)))  # the one that was asked is dead
    assert explained(s)["type"] == "NameError"


def test_no_run_is_late_for_long_while_every_reader_hangs(s):
    """After three losses in a row nobody waits for a reader any longer; later they are tried again."""
    for _ in range(3):
        for pid in ready(s):
            os.kill(pid, signal.SIGSTOP)
        third = time.monotonic()
        assert s.run(FAILS)["diagnosis"] is None
    assert lost(s) == 3
    result = s.run(FAILS)
    if time.monotonic() - third < PAUSE:
        assert result["diagnosis"] is None and lost(s) == 4  # at once: readers are free again
    assert explained(s)["type"] == "NameError"


def examiners(s, comm="belljar-exam"):
    return [p.pid for p in descendants(s.popen.pid) if p.comm == comm]


def test_an_examiner_that_died_is_replaced(s):
    """EXAMINER-3: its death costs the diagnoses of a moment, and the keeper stays."""
    keeper = s.half("keeper").pid
    for _ in range(2):  # the second time after a delay
        before = ready(s)
        examiner, = examiners(s)
        os.kill(examiner, signal.SIGKILL)
        eventually(lambda: not set(readers(s)) & set(before))
        assert s.run("print(1)")["verdict"] == "ok"
        assert explained(s)["type"] == "NameError"
        assert examiner not in examiners(s) and not set(ready(s)) & set(before)
    assert s.half("keeper").pid == keeper


def test_without_examiner_and_restarter_only_diagnoses_are_lost(s):
    ready(s)
    restarter, = examiners(s, "belljar-restart")
    os.kill(restarter, signal.SIGKILL)
    eventually(lambda: not readers(s) and not examiners(s))
    result = eventually(lambda: (r := s.run(FAILS))["diagnosis"] is None and r)
    assert (result["verdict"], result["exit_code"]) == ("runtime_error", 1) and lost(s) >= 1
    assert s.run("print(1)")["verdict"] == "ok"
    assert s.post("/v1/diagnoses", {"stderr": "NameError: name 'x' is not defined"}).status == 503
