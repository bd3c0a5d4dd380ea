"""Sessions outlive their keeper: it is killed at inconvenient moments, and its clients find everything again."""

import contextlib
import datetime
import http.client
import json
import os
import signal
import threading
import time

import pytest
from harness import eventually
from service import Service

PATIENCE = 60


@pytest.fixture(scope="module")
def service():
    with Service("--set", "runs.max=8", "--set", "pools.preload=used") as s:
        yield s


@pytest.fixture
def session(service):
    reply = service.post("/v1/sessions", {"language": "python", "files": {"given.txt": "from the client"},
                                          "name": "mine", "metadata": {"k": 1}})
    assert reply.status == 201, reply
    yield "/v1/sessions/" + reply.json["id"]
    service.delete("/v1/sessions/" + reply.json["id"])


def execute(service, session, code, **fields):
    reply = service.post(session + "/exec", {"code": code, **fields})
    assert reply.status in (200, 202), reply
    return reply.json


def kill_keeper(service):
    """Until the next one serves, with the same warden."""
    warden, keeper = service.half("warden").pid, service.half("keeper").pid
    os.kill(keeper, signal.SIGKILL)
    assert eventually(lambda: service.reachable() and service.half("keeper").pid != keeper, PATIENCE)
    assert service.half("warden").pid == warden


def test_neither_a_restart_nor_the_next_keeper_puts_off_the_end_of_life(service, session):
    def ends(minus=0):
        text = service.get(session).json["expires_at"]
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() - minus
    assert service.request("PATCH", session, {"idle_s": 80000}).status == 200  # so that its life ends first
    before = ends()
    time.sleep(3)  # it would be put off for so long
    assert service.post(session + "/restart").status == 201
    assert abs(ends(before)) < 2
    kill_keeper(service)
    assert abs(ends(before)) < 2


def cell_events(service, session, number, after=0):
    reply = service.get(f"{session}/cells/{number}/events?from={after}")
    assert reply.status == 200, reply
    return [json.loads(line) for line in reply.body.splitlines()]


def printed(events):
    return "".join(e["data"] for e in events if e["event"] == "stdout")


def files_of_sessions(service):
    return sorted(os.listdir(os.path.join(service.state, "data", "sessions")))


def test_variables_and_cells_outlive_the_keeper(service, session):
    """SESSION-5"""
    execute(service, session, "x = 41")
    before = service.get(session).json
    kill_keeper(service)
    after = service.get(session).json
    same = ("id", "name", "language", "state", "key", "created_at", "idle_s", "ttl_s", "cells", "limits", "cell_limits",
            "metadata")
    assert {k: after[k] for k in same} == {k: before[k] for k in same}, (before, after)
    second = execute(service, session, "x + 1")
    assert second["result"]["text/plain"] == "42" and (second["cell"], second["execution_count"]) == (2, 2), second
    assert execute(service, session, "1 / 0")["error"]["name"] == "ZeroDivisionError"
    assert service.post(session + "/complete", {"code": "prin"}).status == 200
    assert [c["cell"] for c in service.get(session + "/cells").json["cells"]] == [1, 2, 3]
    assert service.post(session + "/restart").status == 201
    assert "from the client" in execute(service, session, "print(open('given.txt').read())")["stdout"]


def test_a_cell_that_prints_while_the_keeper_is_killed_twice_loses_and_repeats_nothing(service, session):
    """SESSION-5, CELL_FILE-1"""
    code = ("import sys, time\nfrom IPython.display import display\n"
            "for i in range(2000):\n"
            "    print(i, flush=True)\n"
            "    if i % 100 == 0: display(i)\n"
            "    time.sleep(0.001)\n"
            "'end'")
    made = execute(service, session, code, wait=False, timeout=100)
    seen = []
    for wanted in (200, 900):
        with service.events(f"{session}/cells/1/events?from={seen[-1]['seq'] if seen else 0}") as events:
            for event in events:
                seen.append(event)
                if printed(seen).count("\n") >= wanted:
                    break
        kill_keeper(service)
    seen += cell_events(service, session, 1, seen[-1]["seq"])
    assert printed(seen) == "".join(f"{i}\n" for i in range(2000))
    assert [e["data"]["text/plain"] for e in seen if e["event"] == "display"] == [str(i) for i in range(0, 2000, 100)]
    assert [e["seq"] for e in seen if "seq" in e] == sorted({e["seq"] for e in seen if "seq" in e})
    assert cell_events(service, session, 1)[-1] == seen[-1]
    assert (seen[-1]["event"], seen[-1]["result"]["status"]) == ("done", "ok"), seen[-1]
    run = service.get("/v1/runs/" + made["id"]).json
    assert (run["state"], run["verdict"], run["id"]) == ("finished", "ok", made["id"]), run
    assert service.get(f"/v1/runs/{made['id']}/stdout").body.count(b"\n") == 2000
    assert execute(service, session, "i")["result"]["text/plain"] == "1999"


def test_a_cell_that_waits_for_input_goes_on_waiting(service, session):
    execute(service, session, "name = input('who? ')\nprint('hello', name)", wait=False, timeout=100)
    assert eventually(lambda: service.get(session).json["awaits_input"], PATIENCE)
    kill_keeper(service)
    state = service.get(session).json
    assert (state["state"], state["cell"], state["awaits_input"]) == ("busy", 1, True), state
    assert service.post(session + "/stdin", {"text": "Ada"}).status == 202
    events = cell_events(service, session, 1)
    assert "hello Ada\n" in printed(events) and events[-1]["result"]["status"] == "ok", events
    assert [e["event"] for e in events].count("input_request") == 1, events
    assert execute(service, session, "name")["result"]["text/plain"] == "'Ada'"


def test_a_question_that_outlives_its_keeper_does_not_end_the_session(service, session):
    execute(service, session, "import time\nclass Slow:\n    def __dir__(self): time.sleep(100)\nslow = Slow()")

    def ask():
        with contextlib.suppress(OSError, http.client.HTTPException):  # its keeper dies
            service.post(session + "/complete", {"code": "slow."})
    thread = threading.Thread(target=ask)
    thread.start()
    assert eventually(lambda: service.get(session).json["state"] == "busy")
    kill_keeper(service)
    thread.join(PATIENCE)
    assert execute(service, session, "6 * 7")["result"]["text/plain"] == "42"


def test_a_cell_can_be_interrupted_by_the_next_keeper(service, session):
    execute(service, session, "kept = 3")
    execute(service, session, "import time\nwhile True: time.sleep(0.01)", wait=False, timeout=100)
    assert eventually(lambda: service.get(session).json["cell"] == 2, PATIENCE)
    kill_keeper(service)
    assert service.post(session + "/interrupt").status == 202
    assert cell_events(service, session, 2)[-1]["result"]["status"] == "interrupted"
    assert execute(service, session, "kept")["result"]["text/plain"] == "3"


def test_a_session_that_ends_without_a_keeper_is_gone_with_its_reason(service, session):
    code = "import os, time\nprint('last', flush=True)\ntime.sleep(0.2)\nos._exit(7)"
    keeper = service.half("keeper").pid
    execute(service, session, code, wait=False)
    assert eventually(lambda: service.get(session).json["cell"] == 1, PATIENCE)
    os.kill(keeper, signal.SIGKILL)
    assert eventually(lambda: service.reachable() and service.half("keeper").pid != keeper, PATIENCE)
    assert eventually(lambda: service.get(session).status == 410, PATIENCE)
    assert "exit code 7" in service.get(session).error["message"]
    run = eventually(lambda: [r for r in service.get("/v1/runs?session=" + session.split("/")[-1]).json["runs"]
                              if r["state"] == "finished"], PATIENCE)
    assert run and service.get(f"/v1/runs/{run[0]['id']}/stdout").body == b"last\n", run


def run_in_background(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_a_session_of_execute_keeps_its_name_and_the_stdin_of_its_cell(service):
    """Its client has lost the connection, but the cell reads the rest of its stdin."""
    named = {"headers": {"X-Session-ID": "survivor"}}
    request = {"language": "ipython", "timeout": 60}
    code = ("import time\nlines = [input()]\nopen('half', 'w').close()\n"
            "while True:\n    try: lines.append(input())\n    except EOFError: break\n    time.sleep(0.3)")

    def lose():
        with contextlib.suppress(OSError, http.client.HTTPException):
            service.post("/execute", {**request, "generated_code": code, "std_input": "a\nb\nc\nd\n"}, **named)

    client = run_in_background(lose)
    assert eventually(lambda: service.get("/v1/sessions").json["sessions"], PATIENCE)
    path = "/v1/sessions/" + service.get("/v1/sessions").json["sessions"][0]["id"]
    assert eventually(lambda: service.get(path + "/files/half").status == 200, PATIENCE)
    kill_keeper(service)
    client.join(PATIENCE)
    assert eventually(lambda: service.get(path).json["state"] == "idle", PATIENCE)
    reply = service.post("/execute", {**request, "generated_code": "print(lines)"}, **named)
    assert reply.json["stdout"] == "['a', 'b', 'c', 'd']\n", reply
    assert service.delete(path).status == 200


def test_sessions_leave_no_files(service):
    made = service.post("/v1/sessions", {"language": "python"}).json
    own = [f for f in files_of_sessions(service) if f.startswith(made["id"])]
    assert own == [made["id"] + ".cell", made["id"] + ".spec"], own
    assert service.delete("/v1/sessions/" + made["id"]).status == 200
    assert not [f for f in files_of_sessions(service) if f.startswith(made["id"])]


@pytest.mark.parametrize("tamper", ["spec", "cell"])
def test_a_session_whose_files_do_not_fit_its_row_is_ended(service, tamper):
    """The files and the note are words of an earlier keeper."""
    made = service.post("/v1/sessions", {"language": "python"}).json
    path = "/v1/sessions/" + made["id"]
    execute(service, path, "import time; time.sleep(600)", wait=False)
    assert eventually(lambda: service.get(path).json["cell"] == 1, PATIENCE)
    name = os.path.join(service.state, "data", "sessions", f"{made['id']}.{tamper}")
    with open(name, "r+b") as f:
        if tamper == "spec":
            text = f.read().replace(b'"created_ms":', b'"created_ms":1')
            f.seek(0)
            f.write(text)
        else:
            f.truncate(0)
    kill_keeper(service)
    gone = service.get(path)
    assert gone.status == 410 and "restarted" in gone.error["message"], gone
    assert not [f for f in files_of_sessions(service) if f.startswith(made["id"])]
    assert eventually(lambda: service.get("/v1/health").status == 200, PATIENCE)
