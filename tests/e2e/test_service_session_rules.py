"""Cells and approvals; sessions that a service refuses: too many of one key, too little memory (R7.2, R5.1)."""

import signal
import threading
import time

import pytest
from harness import PATIENCE, eventually
from service import Service, since


@pytest.fixture(scope="module")
def service():
    with Service("--set", "pools.preload=used") as s:
        yield s


@pytest.fixture
def session(service):
    reply = service.post("/v1/sessions", {"language": "python"})
    assert reply.status == 201, reply
    yield reply.json
    service.delete("/v1/sessions/" + reply.json["id"])


def value(service, session, code):
    reply = service.post(f"/v1/sessions/{session['id']}/exec", {"code": code})
    assert reply.status == 200, reply
    return (reply.json["result"] or {}).get("text/plain")


def decided(service, session, code, decision, **fields):
    """The answer of a cell that asks, and the state of its run while it waited."""
    answers, path = [], f"/v1/sessions/{session['id']}/exec"
    body = {"code": code, "permission_mode": "default"}
    client = threading.Thread(target=lambda: answers.append(service.post(path, body)))
    client.start()
    query = {"thread_id": session["id"], "decision": "pending"}
    waits = eventually(lambda: service.get("/v1/approvals", query).json["approvals"])
    assert waits and waits[0]["input"]["code"] == code, waits
    state = service.get("/v1/runs/" + waits[0]["run_id"]).json["state"]
    reply = service.post("/v1/approvals/" + waits[0]["id"], {"decision": decision, **fields})
    assert reply.status == 200, reply
    client.join(60)
    assert len(answers) == 1 and answers[0].status == 200, answers
    return answers[0].json, state


def test_cell_that_is_approved_runs_in_its_session(service, session):
    value(service, session, "x = 1")
    cell, state = decided(service, session, "x += 1; x", "approve")
    assert state == "waiting" and (cell["status"], cell["verdict"]) == ("ok", "ok"), cell
    assert cell["result"]["text/plain"] == "2" and value(service, session, "x") == "2", cell


def test_cell_that_is_edited_runs_the_edited_code_in_its_session(service, session):
    value(service, session, "x = 1")
    cell, _ = decided(service, session, "x = 'bad'", "edit", edited_input={"code": "x += 10; x"})
    assert cell["status"] == "ok" and cell["result"]["text/plain"] == "11", cell
    assert value(service, session, "x") == "11"


def test_cell_that_is_rejected_does_not_run_and_the_next_one_does(service, session):
    value(service, session, "x = 1")
    cell, state = decided(service, session, "x = 'bad'", "reject", reason="not today")
    assert state == "waiting" and cell["verdict"] == "rejected" and cell["result"] is None, cell
    assert "not today" in cell["error"]["message"], cell
    assert value(service, session, "x") == "1"
    assert service.get("/v1/sessions/" + session["id"]).json["state"] == "idle"


def test_sessions_of_a_key_are_capped(start_service):
    s = start_service("--set", "pools.max=0", "--set", "sessions.max_per_key=1")
    one, two = s.add_key("one", "run"), s.add_key("two", "run")
    assert eventually(lambda: s.get("/v1/sessions", key=two).status == 200)
    create = lambda key: s.post("/v1/sessions", {"language": "bash"}, key=key)
    made = create(one)
    assert made.status == 201, made
    refused = create(one)
    assert refused.status == 503 and "sessions.max_per_key" in refused.error["message"], refused
    assert create(two).status == 201  # the cap of one key is not that of another
    assert s.delete("/v1/sessions/" + made.json["id"], key=one).status == 200
    assert create(one).status == 201


def test_starts_of_sessions_are_counted(start_service, sealed):
    s = start_service("--set", "pools.preload=used")
    starts = lambda: s.get("/v1/stats").json["pools"]["python-session"]["starts"]
    for n in (1, 2):
        assert s.post("/v1/sessions", {"language": "python"}).status == 201
        assert sum(starts().values()) == n, starts()


def test_service_that_had_sessions_is_ready_for_them_after_a_restart(sealed):
    with Service("--set", "pools.preload=used") as s:
        zygote = lambda: s.get("/v1/stats").json["pools"]["python-session"]["zygote"]
        assert zygote() == "off"  # a service without sessions pays for none
        made = s.post("/v1/sessions", {"language": "python"}).json
        assert s.delete("/v1/sessions/" + made["id"]).status == 200
        s.restart()
        assert eventually(lambda: zygote() == "up", 30), zygote()
        assert s.post("/v1/sessions", {"language": "python"}).status == 201
        starts = lambda: s.get("/v1/stats").json["pools"]["python-session"]["starts"]
        assert eventually(lambda: sum(starts().values()) == 1, 30) and starts()["cold"] == 0, starts()


def test_cells_of_a_service_that_stops_run_to_their_end():
    answers = []
    with Service("--set", "pools.max=0") as s:
        busy, idle = (s.post("/v1/sessions", {"language": "bash"}).json["id"] for _ in range(2))
        path = f"/v1/sessions/{busy}"
        send = lambda code: answers.append(s.post(path + "/exec", {"code": code}).json)
        codes = ("x=7; sleep 2; echo $x", "sleep 1; echo next $x")
        clients = [threading.Thread(target=send, args=(code,)) for code in codes]
        for number, client in enumerate(clients):
            client.start()
            assert eventually(lambda: s.get(path).json["cells"] == number + 1), s.get(path)
        s.stop()
        for client in clients:
            client.join(30)
        assert sorted((a["status"], a["stdout"]) for a in answers) == [("ok", "7\n"), ("ok", "next 7\n")], answers
        s.start()
        for session in (busy, idle):
            assert s.get("/v1/sessions/" + session).json["state"] == "sleeping"
        assert s.post(path + "/exec", {"code": "echo $x"}).json["stdout"] == "7\n"


def test_second_signal_ends_sessions_now(fresh_service):
    s = fresh_service
    made = s.post("/v1/sessions", {"language": "bash"}).json["id"]
    assert s.post(f"/v1/sessions/{made}/exec", {"code": "sleep 60", "wait": False}).status == 202
    assert eventually(lambda: s.get("/v1/sessions/" + made).json["state"] == "busy")
    start = time.monotonic()
    s.drain()
    s.signal(signal.SIGTERM)
    s.popen.wait(30 * PATIENCE)
    assert since(start) < 20 * PATIENCE


def test_memory_of_a_session_is_that_of_now(service, session):
    path, mib = "/v1/sessions/" + session["id"], 1 << 20
    memory = lambda: service.get(path).json["memory_bytes"]
    if memory() is None:
        pytest.skip("this machine does not measure the memory of a jar")
    assert 0 < memory() < 200 * mib, memory()  # before the first cell
    code = "kept = bytearray(100_000_000); input('ready')"
    assert service.post(path + "/exec", {"code": code, "wait": False}).status == 202
    assert eventually(lambda: service.get(path).json["awaits_input"])
    during = memory()
    assert during > 95 * mib, during
    assert service.post(path + "/stdin", {"text": "go"}).status == 202
    value(service, session, "del kept")
    assert memory() < during - 50 * mib, (memory(), during)
    assert service.post(path + "/restart").status == 201 and 0 < memory() < during


def test_session_is_refused_if_memory_is_short(start_service):
    s = start_service("--set", "pools.max=0", "--set", "sessions.memory_floor=1000g")
    refused = s.post("/v1/sessions", {"language": "bash"})
    assert refused.status == 503 and "memory is short" in refused.error["message"], refused
    assert s.get("/v1/sessions").json["sessions"] == []
    assert s.run("print(1)")["stdout"] == "1\n"  # runs have their own rules
