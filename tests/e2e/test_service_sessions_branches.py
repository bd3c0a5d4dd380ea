"""Branches of Python sessions: POST /v1/sessions/{id}/branches (R5.4)."""
import contextlib
import json
import os
import signal
import sqlite3
import threading
from pathlib import Path

import pytest
import warm
from harness import eventually
from hostview import descendants
from service import Service
from sessions import kill_keeper, open_sessions, value

pytestmark = pytest.mark.release_only  # IPython starts cold there: every session would take seconds


@pytest.fixture(scope="module")
def service():
    with Service("--set", "runs.max=8", "--set", "pools.preload=python-session", "--set", "sessions.max=10") as s:
        yield s


@pytest.fixture
def session(service):
    """No test leaves another session behind, or a process of one."""
    reply = service.post("/v1/sessions", {"language": "python", "name": "mine", "files": {"given": "of the client"},
                                          "limits": {"memory": "400m"}})
    assert reply.status == 201, reply
    yield "/v1/sessions/" + reply.json["id"]
    service.delete("/v1/sessions/" + reply.json["id"])
    assert eventually(lambda: not open_sessions(service)), open_sessions(service)
    assert eventually(lambda: not marked(service)), marked(service)


MARKED = "import subprocess; child = subprocess.Popen(['sleep', '86111'])\n"


def marked(service):
    """Processes that candidates have started with MARKED."""
    def line(pid):
        with contextlib.suppress(OSError):
            return Path(f"/proc/{pid}/cmdline").read_bytes()
    return [p.pid for p in descendants(service.pid) if line(p.pid) == b"sleep\x0086111\0"]


def branch(service, session, candidates, keep, status=200, **fields):
    reply = service.post(session + "/branches", {"candidates": candidates, "keep": keep, **fields})
    assert reply.status == status, reply
    return reply.json


def outcomes(made):
    return [r["outcome"] for r in made["results"]]


def test_the_first_candidate_that_is_ok_becomes_the_session(service, session):
    """An agent's use: eight candidates, of which one passes the test."""
    value(service, session, "cases = {1: 1, 2: 4, 3: 9}; tries = []; x = 1\n_ = open('f', 'w').write('old')")
    test = "\ntries.append(f.__doc__); open('f', 'w').write(f.__doc__)\nassert all(f(n) == m for n, m in cases.items())"
    bodies = ["n", "n + n", "1 // 0", "n * 3", "n ** n", "n * n", "-n", "None"]
    made = branch(service, session, [f"def f(n):\n    '''{b}'''\n    return {b}{test}" for b in bodies], "first_ok")
    assert (made["winner"], made["adopted"], made["error"], made["left"]) == (5, True, None, []), made
    assert "/v1/sessions/" + made["session"] == session and made["results"][5]["outcome"] == "ok"
    assert set(outcomes(made)) <= {"ok", "failed", "stopped"} and outcomes(made).count("ok") == 1
    # The state is that of the winner alone, in the same session with its name and its first file.
    assert value(service, session, "tries, f(7), open('f').read(), open('given').read()") == \
        "(['n * n'], 49, 'n * n', 'of the client')"
    now = service.get(session).json
    assert (now["state"], now["name"], now["restarts"], now["cells"]) == ("idle", "mine", 0, 3)
    assert now["memory_bytes"] > 0 and open_sessions(service) == {now["id"]}
    # The story is whole: in the list, as one cell, as events, as a notebook, and of the copy.
    copy = made["results"][5]["session"]
    cells = service.get(session + "/cells").json["cells"]
    assert [(c["cell"], c.get("adopted_from")) for c in cells] == [(1, None), (2, copy), (3, None)]
    assert {c["session"] for c in cells} == {now["id"]} and "n * n" in cells[1]["code"]
    assert service.get(session + "/cells?after=1&limit=1").json["cells"] == cells[1:2]
    assert service.get(session + "/cells/2").json["adopted_from"] == copy
    assert b'"done"' in service.get(session + "/cells/2/events").body
    book = service.get(session + "/notebook").json["cells"]
    assert [c["id"] for c in book] == ["cell-1", "cell-2", "cell-3"] and "n * n" in book[1]["source"]
    reply = service.get(f"/v1/sessions/{copy}")
    assert reply.status == 410 and "goes on with its program" in reply.error["message"]
    # A restart begins as for every session.
    assert service.post(session + "/restart").status == 201
    assert value(service, session, "'cases' in globals(), open('given').read()") == "(False, 'of the client')"


def test_candidates_share_nothing_and_the_original_stays_as_it_was(service, session):
    value(service, session, "x = [0]; import os; _ = open('f', 'w').write('old')")
    made = branch(service, session, [f"x.append({i}); open('f', 'a').write('{i}'); (x, open('f').read(), os.listdir())"
                                     for i in range(1, 4)], "none")
    assert (made["winner"], made["adopted"], made["left"], made["not_carried"]) == (None, False, [], [])
    assert made["image_bytes"] > 1 << 20 and made["wall_ms"] > made["fork_ms"] > made["pause_ms"] > 0
    for i, r in enumerate(made["results"], 1):
        assert (r["index"], r["outcome"], r["score"], r["error"]) == (i - 1, "ok", None, None)
        assert r["cell"]["result"]["text/plain"] == f"([0, {i}], 'old{i}', ['given', 'f'])", r["cell"]
    assert value(service, session, "x, open('f').read()") == "([0], 'old')"
    assert service.get(session).json["cells"] == 2


def test_the_best_score_wins_and_the_lower_index_of_equal_ones(service, session):
    value(service, session, "y = 0")
    candidates = ["y = 2", "y = 3.5", "y = 3.5; extra = 1", "1 / 0", "y = 'text'", "y = None", "del y",
                  "y = float('nan')"]
    made = branch(service, session, candidates, "best", score="print('scored'); y")
    assert (made["winner"], made["adopted"]) == (1, True)
    assert outcomes(made) == ["ok", "ok", "ok", "failed", "ok", "ok", "ok", "ok"]
    scores = [r["score"] for r in made["results"]]
    assert [s and s["value"] for s in scores] == [2, 3.5, 3.5, None, None, None, None, None] and scores[3] is None
    assert "text" in scores[4]["error"] and "number" in scores[4]["error"]
    assert "no result" in scores[5]["error"] and "'error'" in scores[6]["error"] and "nan" in scores[7]["error"]
    assert scores[6]["cell"]["error"]["name"] == "NameError" and scores[0]["cell"]["stdout"] == "scored\n"
    assert value(service, session, "y, 'extra' in globals()") == "(3.5, False)"
    assert [(c["cell"], c["code"]) for c in service.get(session + "/cells").json["cells"]][1:3] == \
        [(2, "y = 3.5"), (3, "print('scored'); y")]
    # Without a number there is no winner.
    made = branch(service, session, ["y = 'a'", "y = []"], "best", score="y")
    assert (made["winner"], made["adopted"], made["error"]) == (None, False, None)
    assert value(service, session, "y") == "3.5"


def test_a_winner_that_is_not_adopted_stays_as_a_session(service, session):
    value(service, session, "x = 1; import time")
    made = branch(service, session, ["x = 2", MARKED + "time.sleep(600)"], "first_ok", adopt=False)
    winner = made["results"][0]["session"]
    assert (made["winner"], made["adopted"], made["left"]) == (0, False, [winner])
    assert outcomes(made) == ["ok", "stopped"] and made["results"][1]["cell"]["verdict"] == "cancelled"
    assert value(service, session, "x") == "1" and value(service, "/v1/sessions/" + winner, "x") == "2"
    kept = service.get("/v1/sessions/" + winner).json
    assert kept["name"] == "branch 0 of " + made["session"] and kept["cells"] == 3
    assert kept["expires_at"] <= service.get(session).json["expires_at"] or kept["idle_s"] == 1800
    assert kept["ttl_s"] <= 3600
    assert service.delete("/v1/sessions/" + winner).status == 200
    # With `leave` the others stay, too. The one that was interrupted keeps its variables.
    made = branch(service, session, ["x = 3", "x = 4\ntime.sleep(600)"], "first_ok", leave=True)
    assert made["adopted"] and made["left"] == [made["results"][1]["session"]] and outcomes(made) == ["ok", "stopped"]
    other = "/v1/sessions/" + made["left"][0]
    assert value(service, session, "x") == "3"
    assert eventually(lambda: service.get(other).json["state"] == "idle") and value(service, other, "x") in "14"
    assert service.post(other + "/fork").status == 201  # it is a session like any other
    for s in service.get("/v1/sessions").json["sessions"]:
        if "/v1/sessions/" + s["id"] != session:
            service.delete("/v1/sessions/" + s["id"])


def test_candidates_that_die_loop_or_ask_are_told_and_harm_nobody(service, session):
    value(service, session, "x = 1; import os, time")
    made = branch(service, session, ["os.kill(os.getpid(), 9)", MARKED + "while True: pass", "input('?')",
                                     "b = bytearray(900 << 20)\nfor i in range(0, len(b), 4096): b[i] = 1",
                                     MARKED + "while True:\n    try: time.sleep(600)\n    except BaseException: pass",
                                     "exit()", "x = 5"], "best", score="x", timeout=2)
    cells = [r["cell"] for r in made["results"]]
    # exit() is ok in a cell, unless its program is gone before the cell is measured.
    assert cells[5]["status"] == "lost" or "ended after the cell" in made["results"][5]["error"], made["results"][5]
    assert (made["winner"], made["adopted"]) == (6, True) and outcomes(made) == ["failed"] * 6 + ["ok"]
    assert cells[0]["status"] == "lost" and "signal 9" in cells[0]["notes"][0], cells[0]
    assert (cells[1]["status"], cells[1]["verdict"]) == ("timeout", "timeout"), cells[1]
    assert cells[2]["error"]["name"] == "EOFError"
    assert (cells[3]["verdict"] == "memory_limit" or cells[3]["error"]["name"] == "MemoryError"), cells[3]
    assert (cells[4]["status"], cells[4]["verdict"]) == ("lost", "timeout"), cells[4]
    assert value(service, session, "x") == "5"


def test_results_are_streamed_as_they_finish(service, session):
    value(service, session, "import os, time")
    code = "while not os.path.exists('/sandbox/go'): time.sleep(.01)"
    body = {"candidates": [code, "1", "2"], "keep": "none", "stream": True}
    with service.events(session + "/branches", body) as events:
        got = [next(events)]
        copies = got[0]["sessions"]
        while len([e for e in got if e["event"] == "result"]) < 2:
            got.append(next(events))
        assert service.put(f"/v1/sessions/{copies[0]}/files/go", b"").status in (200, 201)
        got += list(events)
    assert [e["seq"] for e in got] == list(range(1, len(got) + 1))
    assert [e["event"] for e in got] == ["forked"] + ["candidate"] * 3 + ["result"] * 3 + ["done"]
    assert [(e["index"], e["session"], e["part"], e["state"]) for e in got[1:4]] == \
        [(i, copies[i], "candidate", "queued") for i in range(3)]
    results = {e["index"]: e["result"] for e in got[4:7]}
    assert got[6]["index"] == 0 and {i: r["outcome"] for i, r in results.items()} == dict.fromkeys(range(3), "ok")
    assert results[2]["cell"]["result"]["text/plain"] == "2" and got[7]["winner"] is None and "results" not in got[7]
    # The first candidate fails, and so the second one wins.
    body = {"candidates": ["1 / 0", code + "\nx = 2"], "keep": "first_ok"}
    with service.events(session + "/branches", body) as events:
        copies = next(events)["sessions"]
        failed = next(e["result"] for e in events if e["event"] == "result")
        assert (failed["index"], failed["outcome"], failed["cell"]["cell"]) == (0, "failed", 2)
        assert failed["cell"]["error"]["name"] == failed["cell"]["diagnosis"]["type"] == "ZeroDivisionError"
        assert failed["cell"]["usage"]["wall_ms"] > 0
        assert eventually(lambda: service.put(f"/v1/sessions/{copies[1]}/files/go", b"").status in (200, 201))
        assert list(events)[-1]["winner"] == 1
    assert value(service, session, "x") == "2"
    sse = service.all_events(session + "/branches", {"candidates": ["1"], "keep": "best", "score": "1"}, sse=True)
    assert [e["event"] for e in sse] == ["forked", "candidate", "result", "candidate", "score", "done"]
    assert sse[-1]["winner"] == 0 and sse[-1]["adopted"]


def test_a_candidate_begins_as_soon_as_its_own_copy_is_ready(service, session):
    """The first ones find a program that waits for its image; the zygote that makes the others is stopped."""
    value(service, session, "x = 1")
    branch(service, session, ["1"], "none")  # the pool has its first demand
    assert eventually(lambda: warm.pools(service)["python-image"]["ready"] >= 1, 60), warm.pools(service)
    zygotes = [p.pid for p in descendants(service.pid) if p.comm == "jar-zygote" and "python" in p.exe]
    try:
        for pid in zygotes:
            os.kill(pid, signal.SIGSTOP)
        with service.events(session + "/branches", {"candidates": ["x"] * 9, "keep": "none", "stream": True}) as events:
            copies = next(events)["sessions"]
            first = next(e for e in events if e["event"] == "result")
            states = [service.get(f"/v1/sessions/{c}").json.get("state") for c in copies]
            for pid in zygotes:
                os.kill(pid, signal.SIGCONT)
            rest = list(events)
    finally:
        for pid in zygotes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
    assert first["result"]["outcome"] == "ok" and "starting" in states, (first, states)
    assert [e["result"]["outcome"] for e in rest if e["event"] == "result"] == ["ok"] * 8, rest


WAIT = MARKED + "import time; time.sleep(600)"


@contextlib.contextmanager
def running(service, session, **fields):
    """Branches that go on until the block ends, or until something else ends them."""
    body = {"candidates": [WAIT, WAIT], "keep": "first_ok", "stream": True, **fields}
    with service.events(session + "/branches", body) as events:
        copies = next(events)["sessions"]
        assert eventually(lambda: len(marked(service)) == 2)
        yield copies, events


def test_a_client_that_leaves_ends_its_branches(service, session):
    value(service, session, "x = 1")
    with running(service, session, leave=True):
        pass
    assert eventually(lambda: len(open_sessions(service)) == 1) and eventually(lambda: not marked(service))
    assert eventually(lambda: service.get(session).json["state"] == "idle") and value(service, session, "x") == "1"
    # The same before the copies are there.
    with service.connect() as raw:
        body = b'{"candidates": ["1", "2"], "keep": "none"}'
        raw.sendall(b"POST %s/branches HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                    b"Content-Length: %d\r\n\r\n%s" % (session.encode(), len(body), body))
    assert eventually(lambda: len(open_sessions(service)) == 1 and service.get(session).json["state"] == "idle")
    assert value(service, session, "x") == "1"


def test_the_original_does_not_change_while_its_branches_run(service, session):
    value(service, session, "x = 1")
    with running(service, session) as (copies, _):
        assert service.get(session).json["state"] == "busy"
        for method, path, body in (("POST", "/exec", {"code": "x = 2"}), ("POST", "/fork", {}),
                                   ("POST", "/branches", {"candidates": ["1"], "keep": "none"}),
                                   ("GET", "/variables", None), ("POST", "/interrupt", {}),
                                   ("DELETE", "/files/given", None)):
            reply = service.request(method, session + path, body)
            assert reply.status == 409 and "branches" in reply.error["message"], (path, reply)
        assert service.put(session + "/files/new", b"x").status == 409
        assert service.get(session + "/files/given").body == b"of the client"
        assert service.request("PATCH", session, {"name": "other"}).json["name"] == "other"
        # A branch runs nothing but its candidate. A person can interrupt it.
        reply = service.post(f"/v1/sessions/{copies[0]}/exec", {"code": "1"})
        assert reply.status == 409 and "branch" in reply.error["message"]
        assert service.get(f"/v1/sessions/{copies[0]}/variables").status == 409
        assert service.post(f"/v1/sessions/{copies[0]}/interrupt", {}).status == 202
    assert eventually(lambda: service.get(session).json["state"] == "idle")
    assert value(service, session, "x, open('given').read()") == "(1, 'of the client')"


@pytest.mark.parametrize("how", ["restart", "delete"])
def test_branches_end_with_their_session(service, session, how):
    with running(service, session) as (_, events):
        reply = service.post(session + "/restart") if how == "restart" else service.delete(session)
        assert reply.status in (200, 201)
        last = list(events)[-1]
    assert last["event"] == "done" and (last["winner"], last["adopted"]) == (None, False)
    assert ("restarted" if how == "restart" else "deleted") in last["error"], last
    assert eventually(lambda: len(open_sessions(service)) == (how == "restart"))
    if how == "restart":
        assert value(service, session, "1") == "1"


def test_the_next_keeper_has_the_session_and_no_branch(service, session):
    value(service, session, "x = 1")
    with contextlib.suppress(Exception), running(service, session):
        kill_keeper(service)
    assert open_sessions(service) == {session.split("/")[-1]} and eventually(lambda: not marked(service))
    assert value(service, session, "x") == "1"
    # A session that goes on as a branch outlives the keeper as that, and so does its story.
    made = branch(service, session, ["x = 2", "1 / 0"], "first_ok")
    with sqlite3.connect(service.state / "data" / "belljar.db", timeout=60) as db:  # as if it was not written any more
        db.execute("UPDATE sessions SET adopted_by = NULL")
    kill_keeper(service)
    assert value(service, session, "x") == "2" and service.get(session).json["name"] == "mine"
    cells = service.get(session + "/cells").json["cells"]
    assert [(c["cell"], c.get("adopted_from")) for c in cells] == \
        [(1, None), (2, None), (3, made["results"][0]["session"]), (4, None)]


def test_each_candidate_asks_and_rules_hold(service, session):
    answers = []
    body = {"candidates": ["x = 1", "x = 2", "x = 3"], "keep": "best", "score": "x", "permission_mode": "default",
            "stream": True}
    client = threading.Thread(target=lambda: answers.extend(service.all_events(session + "/branches", body)))
    client.start()

    def pending(code):
        found = service.get("/v1/approvals", {"decision": "pending"}).json["approvals"]
        return [a for a in found if a["input"]["code"] == code]
    for code, decision in (("x = 1", "approve"), ("x = 2", "approve"), ("x = 3", "reject")):
        waits = eventually(lambda code=code: pending(code))
        assert len(waits) == 1, code
        assert service.post("/v1/approvals/" + waits[0]["id"], {"decision": decision}).status == 200
    for _ in range(2):
        waits = eventually(lambda: pending("x"))
        assert waits and service.post("/v1/approvals/" + waits[0]["id"], {"decision": "approve"}).status == 200
    client.join(60)
    assert [e["state"] for e in answers if e["event"] == "candidate"] == ["waiting"] * 5
    results = {e["index"]: e["result"] for e in answers if e["event"] == "result"}
    assert results[2]["outcome"] == "failed" and results[2]["cell"]["verdict"] == "rejected"
    assert answers[-1]["winner"] == 1 and value(service, session, "x") == "2"
    rule = service.post("/v1/rules", {"action": "deny", "match": "contains", "text": "forbidden_word"})
    assert rule.status == 201, rule
    made = branch(service, session, ["forbidden_word = 1", "y = 1"], "first_ok")
    assert outcomes(made) == ["failed", "ok"] and made["results"][0]["cell"]["verdict"] == "rejected"
    assert service.delete("/v1/rules/" + rule.json["id"]).status == 204


@pytest.fixture
def bash(service):
    reply = service.post("/v1/sessions", {"language": "bash"})
    yield "/v1/sessions/" + reply.json["id"]
    service.delete("/v1/sessions/" + reply.json["id"])


@pytest.mark.parametrize("body, field, says", [
    ({"keep": "none"}, "candidates", "none are given"),
    ({"candidates": ["1"]}, "keep", "first_ok, best, none or ask"),
    ({"candidates": [], "keep": "none"}, "candidates", "1 to 16 are accepted"),
    ({"candidates": ["1"] * 17, "keep": "none"}, "candidates", "16"),
    ({"candidates": ["1", 2], "keep": "none"}, "candidates[1]", "text"),
    ({"candidates": "1", "keep": "none"}, "candidates", "list of texts"),
    ({"candidates": ["1"], "keep": "last"}, "keep", "first_ok"),
    ({"candidates": ["1"], "keep": "best"}, "score", "keep 'first_ok' or 'none'"),
    ({"candidates": ["1"], "keep": "none", "score": "1"}, "score", "use keep 'best'"),
    ({"candidates": ["1"], "keep": "none", "adopt": True}, "adopt", "no winner"),
    ({"candidates": ["1"], "keep": "none", "timeout": 0}, "timeout", "0.001"),
    ({"candidates": ["1"], "keep": "none", "timeout": 86400}, "timeout", "up to"),
    ({"candidates": ["1"], "keep": "none", "count": 2}, "count", "there is no field 'count'"),
])
def test_a_bad_request_for_branches_names_the_field(service, bash, body, field, says):
    reply = service.post(bash + "/branches", body)
    assert reply.status == 400 and reply.error["field"] == field and says in reply.error["message"], reply


def test_branches_that_are_not_possible_say_why_and_leave_no_session(service, session):
    one = {"candidates": ["1"], "keep": "none"}
    reply = service.post("/v1/sessions/ses_none/branches", one)
    assert reply.status == 404
    reply = service.post(session + "/branches", {"candidates": ["1"] * 12, "keep": "none"})
    assert reply.status == 503 and reply.error["message"].startswith(
        "there is no room for 12 more: 1 sessions are open, and this service (sessions.max) accepts no more than 10")
    value(service, session, "import time")  # by itself: the interrupt may come at the first statement of its cell
    cell = service.post(session + "/exec", {"code": "time.sleep(600)", "wait": False}).json["cell"]
    reply = service.post(session + "/branches", one)
    assert reply.status == 409 and f"cell {cell} runs" in reply.error["message"], reply
    assert service.post(session + "/interrupt").status == 202
    assert eventually(lambda: service.get(session).json["state"] == "idle")
    value(service, session, "import threading; threading.Thread(target=time.sleep, args=(600,), daemon=True).start()")
    reply = service.post(session + "/branches", {**one, "strict": True})
    assert reply.status == 409 and "thread" in reply.error["message"], reply
    assert "thread" in str(branch(service, session, ["1"], "none")["not_carried"])
    assert len(open_sessions(service)) == 1


def test_the_answer_about_branches_is_bounded(service, session):
    big = "print('x' * (1 << 20))\nfrom IPython.display import display\nfor i in range(15): " \
          "display({'text/plain': 'y' * (1 << 20)}, raw=True)"
    made = branch(service, session, [big] * 5, "none")
    cut = [r["cell"] for r in made["results"] if not r["cell"]["displays"]]
    assert 0 < len(cut) < 5 and all("its run has them" in c["notes"][-1] and c["stdout"] == "" for c in cut)
    assert sum(len(str(r)) for r in made["results"]) < 70 << 20
    assert len(service.get(f"/v1/runs/{cut[0]['id']}/stdout").body) == (1 << 20) + 1


def test_a_stream_of_branches_that_is_silent_for_long_has_signs_of_life(service, session):
    reply = service.post(session + "/branches", {"candidates": ["import time; time.sleep(17)"], "keep": "none",
                                                 "timeout": 40, "stream": True})
    seen = [json.loads(line)["event"] for line in reply.body.splitlines()]
    assert seen == ["forked", "candidate", "keepalive", "result", "done"], seen


def test_the_candidate_that_a_person_chooses_becomes_the_session(service, session):
    """Its copy waits for the choice: no candidate runs twice."""
    code = "import random; x = random.random(); print(x)"
    assert service.post(session + "/branches/choose", {"winner": 0}).status == 409
    refused = service.post(session + "/branches", {"candidates": [code], "keep": "ask"})
    assert refused.status == 400 and refused.json["error"]["field"] == "keep"
    body = {"candidates": [code, "1 / 0", code], "keep": "ask", "stream": True}
    with service.events(session + "/branches", body) as events:
        seen = []
        while not seen or seen[-1]["event"] != "choose":
            seen.append(next(events))
        printed = {e["index"]: e["result"]["cell"]["stdout"] for e in seen if e["event"] == "result"}
        for wrong in (1, 3):
            assert service.post(session + "/branches/choose", {"winner": wrong}).status == 400
        assert service.post(session + "/branches/choose", {"winner": 2}).status == 202
        done = list(events)[-1]
    assert done["event"] == "done" and (done["winner"], done["adopted"]) == (2, True)
    assert value(service, session, "x") == printed[2].strip() != printed[0].strip()
    # None of them, and a client that leaves.
    for answer in ({}, None):
        with service.events(session + "/branches", {**body, "candidates": ["x = 2"]}) as events:
            while next(events)["event"] != "choose":
                pass
            if answer is not None:
                assert service.post(session + "/branches/choose", answer).status == 202
                assert list(events)[-1]["winner"] is None
        assert eventually(lambda: service.get(session).json["state"] == "idle")
    assert value(service, session, "x") == printed[2].strip()


def test_the_suggestions_for_a_failed_cell_are_candidates(service, session):
    failed = service.post(session + "/exec", {"code": 'd = {"price": 3}\nd["prize"]'}).json
    reply = service.post(session + "/branches", {"fixes_of": failed["id"], "keep": "first_ok"})
    assert reply.status == 200, reply
    (made,) = reply.json["results"]
    assert (made["outcome"], made["cell"]["result"]["text/plain"], reply.json["adopted"]) == ("ok", "3", True)
    assert '-d["prize"]\n+d["price"]\n' in made["diff"]
    well = service.post(session + "/exec", {"code": "1"}).json
    for fields, status, words in [({"fixes_of": well["id"]}, 400, "suggests no line"),
                                  ({"fixes_of": "run_none"}, 404, "no run"),
                                  ({"fixes_of": well["id"], "candidates": ["1"]}, 400, "both given"),
                                  ({}, 400, "none are given")]:
        refused = service.post(session + "/branches", {"keep": "first_ok", **fields})
        assert refused.status == status and words in refused.json["error"]["message"], refused
