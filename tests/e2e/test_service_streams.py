"""Events while it runs, from any position, in both forms; stdin while it runs; clients that leave (R1.5, R1.6)."""

import base64
import json
import socket
import time

import pytest

from harness import eventually
from service import output_of, sleeper

FORMS = pytest.mark.parametrize("sse", [False, True], ids=["ndjson", "sse"])
TALKER = """\
import time
for i in range(5): print(i, flush=True); time.sleep(0.05)
import sys
print('e', file=sys.stderr)"""


def program(code, **fields):
    return {"language": "python", "code": code, **fields}


def names(events):
    return [e["event"] for e in events]


def ours(events):
    """The events without `queued`. That one is numbered 0, and a second stream does not repeat it."""
    assert all(e["event"] in ("queued", "waiting", "running") for e in events if e["seq"] == 0), names(events)
    return [e for e in events if e["seq"] > 0]


def until(events, text, stream="stdout"):
    """The events up to where the stream has said `text`, which print() may have written in pieces."""
    seen = []
    while output_of(seen, stream) != text:
        seen.append(next(events))
        assert text.startswith(output_of(seen, stream)) and seen[-1]["event"] != "done", seen
    return seen


def started_run(service, code, **fields):
    """The id of a run that has printed its first line."""
    run_id = service.run(code, wait=False, status=202, **{"limits": {"wall_ms": "2m"}, **fields})["id"]
    assert eventually(lambda: service.get(f"/v1/runs/{run_id}").json.get("stdout", "").endswith("\n"), 20)
    return run_id


def assert_whole(events):
    """queued? started, output, done; numbers rise; nothing after the end."""
    kinds = names(ours(events))
    assert kinds[0] == "started" and kinds[-1] == "done" and set(kinds[1:-1]) <= {"stdout", "stderr"}, kinds
    seqs = [e["seq"] for e in ours(events)]
    assert seqs == sorted(set(seqs)) and seqs[0] == 1, seqs
    times = [e["time_ms"] for e in events if "time_ms" in e]
    assert times == sorted(times)


@FORMS
def test_service_stream_is_whole_and_in_order(service, sse):
    events = service.all_events(body=program(TALKER), sse=sse)
    assert_whole(events)
    assert (output_of(events), output_of(events, "stderr")) == (b"0\n1\n2\n3\n4\n", b"e\n")
    result = events[-1]["result"]
    assert result["verdict"] == "ok" and "stdout" not in result and "stderr" not in result
    started = [e for e in events if e["event"] == "started"][0]
    assert set(started) == {"event", "seq", "id", "started_at"} and started["id"] == result["id"]


def test_service_stream_by_the_field_alone(service):
    reply = service.post("/v1/runs", program("print(1)", stream=True))
    assert reply.status == 200 and reply.headers["Content-Type"].startswith("application/x-ndjson")
    events = [json.loads(line) for line in reply.body.splitlines()]
    assert_whole(events)
    assert output_of(events) == b"1\n"


@FORMS
def test_service_output_arrives_while_it_runs(service, sse):
    code = "print('first', flush=True)\ninput()\nprint('second')"
    with service.events(body=program(code, stdin_open=True), sse=sse) as events:
        run_id = ours(until(events, b"first\n"))[0]["id"]
        assert service.post(f"/v1/runs/{run_id}/stdin", {"data": "\n", "eof": True}).status == 202
        rest = list(events)
    assert output_of(rest) == b"second\n" and rest[-1]["result"]["verdict"] == "ok"


def test_service_stream_keeps_characters_whole(service):
    """Characters that the program wrote in pieces arrive in one."""
    code = ("import os, time\nos.write(1, b'a\\xc3')\ninput()\n"
            "for b in 'üö€😀z'.encode()[1:]:\n    os.write(1, bytes([b])); time.sleep(0.02)")
    with service.events(body=program(code, stdin_open=True)) as events:
        first = until(events, b"a")  # the half behind it is kept back
        assert service.post(f"/v1/runs/{ours(first)[0]['id']}/stdin", {"data": "\n", "eof": True}).status == 202
        outputs = [e for e in [*first, *events] if e["event"] == "stdout"]
    assert all("data" in e for e in outputs), outputs
    assert "".join(e["data"] for e in outputs) == "aüö€😀z" and len(outputs) > 1


def test_service_stream_flags_bytes_that_are_no_text(service):
    """R1.2"""
    code = "import os\nos.write(1, b'a')\ninput()\nos.write(1, b'\\xff\\xfe')\ninput()\nos.write(1, b'\\xc3')"
    with service.events(body=program(code, stdin_open=True)) as stream:
        events = []
        for said in (b"a", b"\xff\xfe"):  # the next is written when this has been read
            events += until(stream, said)
            assert service.post(f"/v1/runs/{ours(events)[0]['id']}/stdin", {"data": "\n"}).status == 202
        events += stream
    assert output_of(events) == b"a\xff\xfe\xc3"
    encoded = [base64.b64decode(e["data_base64"]) for e in events if "data_base64" in e]
    assert b"".join(encoded) == b"\xff\xfe\xc3" and not any("data" in e and "data_base64" in e for e in events)


def test_service_stream_of_five_megabytes_is_exact(service):
    code = "import sys\nfor i in range(655360): sys.stdout.write('%07d\\n' % i)"
    events = service.all_events(body=program(code, limits={"wall_ms": 60000, "cpu_ms": 60000}))
    assert output_of(events) == b"".join(b"%07d\n" % i for i in range(655360))


@FORMS
def test_service_events_replay_from_every_position(service, sse):
    """A client that comes back gets exactly the rest."""
    code = """\
import os, time
for b in 'abüé€'.encode(): os.write(1, bytes([b])); time.sleep(0.02)
os.write(2, b'\\xff')"""
    whole = ours(service.all_events(body=program(code), sse=sse))
    run_id = whole[0]["id"]
    path = f"/v1/runs/{run_id}/events"
    assert service.all_events(path, sse=sse) == whole
    for event in whole:
        expected = [e for e in whole if e["seq"] > event["seq"]]
        header = {"Last-Event-ID": str(event["seq"])}
        if event["event"] == "done":
            assert service.get(path, headers=header).status == 204
        else:
            assert service.all_events(path, sse=sse, headers=header) == expected, event
            assert service.all_events(f"{path}?after={event['seq']}", sse=sse) == expected


def test_service_events_can_be_followed_by_many(service):
    run_id = started_run(service, "print('go', flush=True)\ninput()\nprint('end')", stdin_open=True)
    path = f"/v1/runs/{run_id}/events"
    with service.events(path) as one, service.events(path, sse=True) as two:
        for events in (one, two):
            until(events, b"go\n")
        assert service.post(f"/v1/runs/{run_id}/stdin", {"eof": True, "data": "x\n"}).status == 202
        assert output_of(list(one)) == b"end\n" == output_of(list(two))


def test_service_events_of_nonsense_positions(service):
    run_id = service.run("pass")["id"]
    for value in ("x", "-1", "1.5", "", "99999999999999999999999"):
        reply = service.get(f"/v1/runs/{run_id}/events", headers={"Last-Event-ID": value})
        assert reply.status == 400, (value, reply)
        assert reply.error["field"] == "Last-Event-ID"


def test_service_event_source_is_told_to_stop(service):
    """A browser's EventSource comes back after every end; 204 is how it is told that there is no more."""
    events = service.all_events(body=program("print(1)"), sse=True)
    path, last = f"/v1/runs/{events[-1]['result']['id']}/events", events[-1]["seq"]
    for seq in (last, last + 1, 10**9):
        reply = service.get(path, headers={"Last-Event-ID": str(seq), "Accept": "text/event-stream"})
        assert (reply.status, reply.body) == (204, b""), reply


# ---- without waiting ----


def test_service_wait_false_answers_at_once(service):
    r = service.run("print('go')\ninput()\nprint('woke')", wait=False, status=202, stdin_open=True)
    assert set(r) == {"id", "state"} and r["state"] in ("queued", "running")
    while_running = service.get(f"/v1/runs/{r['id']}").json
    assert while_running["id"] == r["id"] and while_running["verdict"] is None
    assert service.post(f"/v1/runs/{r['id']}/stdin", {"data": "\n", "eof": True}).status == 202
    result = service.finished(r["id"])
    assert (result["verdict"], result["stdout"]) == ("ok", "go\nwoke\n")


def test_service_running_runs_are_listed_as_such(service):
    run_id = started_run(service, sleeper(100))
    listed = lambda state: [r["id"] for r in service.get("/v1/runs", {"state": state}).json["runs"]]
    assert eventually(lambda: run_id in listed("running")) and run_id not in listed("queued") + listed("finished")
    service.delete(f"/v1/runs/{run_id}")
    service.finished(run_id)
    assert run_id in listed("finished") and run_id not in listed("running")


def test_service_output_so_far_can_be_read(service):
    run_id = started_run(service, sleeper(100))
    assert service.get(f"/v1/runs/{run_id}/stdout").body == b"go\n"
    service.delete(f"/v1/runs/{run_id}")


# ---- stdin ----


def test_service_conversation_over_stdin(service):
    """R1.6"""
    code = "import sys\nprint('ready', flush=True)\nfor line in sys.stdin: print(line.strip().upper(), flush=True)"
    run_id = started_run(service, code, stdin_open=True)
    path = f"/v1/runs/{run_id}"
    for n, word in enumerate(("one", "zwölf")):
        reply = service.post(path + "/stdin", {"data": word + "\n"})
        assert reply.status == 202 and reply.json == {"id": run_id, "accepted": len((word + "\n").encode())}, reply
        assert eventually(lambda: word.upper() in service.get(path).json["stdout"]), word
    assert service.post(path + "/stdin",
                        {"data": base64.b64encode(b"b\n").decode(), "encoding": "base64", "eof": True}).status == 202
    assert service.finished(run_id)["stdout"] == "ready\nONE\nZWÖLF\nB\n"


def test_service_first_stdin_then_more(service):
    run_id = service.run("print(input(), input())", stdin="a\n", stdin_open=True, wait=False, status=202)["id"]
    assert service.post(f"/v1/runs/{run_id}/stdin", {"data": "b\n", "eof": True}).status in (202, 409)
    assert service.finished(run_id)["stdout"] == "a b\n"


def test_service_stdin_after_eof_is_a_conflict(service):
    run_id = started_run(service, sleeper(100), stdin_open=True)
    path = f"/v1/runs/{run_id}"
    assert service.post(path + "/stdin", {"eof": True}).status == 202
    reply = service.post(path + "/stdin", {"data": "x"})
    assert (reply.status, reply.error["code"]) == (409, "conflict"), reply
    service.delete(path)
    service.finished(run_id)
    assert service.post(path + "/stdin", {"data": "x"}).status == 409


def test_service_stdin_of_a_run_that_did_not_ask_for_it(service):
    run_id = started_run(service, sleeper(100))
    assert service.post(f"/v1/runs/{run_id}/stdin", {"data": "x"}).status == 409
    service.delete(f"/v1/runs/{run_id}")


def test_service_stdin_that_nobody_reads_is_bounded(service):
    """The service stays small: at some point it refuses input that the program does not read."""
    run_id = started_run(service, sleeper(100), stdin_open=True)
    statuses = [service.post(f"/v1/runs/{run_id}/stdin", {"data": "x" * (1 << 20)}).status for _ in range(40)]
    assert statuses[0] == 202 and 503 in statuses and set(statuses) <= {202, 503}, statuses
    service.delete(f"/v1/runs/{run_id}")


# ---- clients that leave ----


def leave(service, body, accept=None):
    """Sends a request, waits for the run to run, and goes away without a word."""
    text = json.dumps(body).encode()
    head = f"""\
POST /v1/runs HTTP/1.1\r
Host: localhost\r
Content-Type: application/json\r
Content-Length: {len(text)}\r
"""
    head += f"Accept: {accept}\r\n" if accept else ""
    with service.connect() as s:
        s.sendall(head.encode() + b"\r\n" + text)
        found = eventually(lambda: service.get("/v1/runs", {"session": body["thread_id"]}).json["runs"])
        assert eventually(lambda: service.get(f"/v1/runs/{found[0]['id']}/stdout").body == b"go\n")
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset, not a half-close
    return found[0]["id"]


@pytest.mark.parametrize("accept", [None, "text/event-stream"], ids=["waiting", "streaming"])
def test_service_cancel_on_disconnect_ends_the_run(service, accept):
    """R1.6"""
    body = program(sleeper(100), cancel_on_disconnect=True, thread_id=f"leaves-{accept}", limits={"wall_ms": "2m"})
    result = service.finished(leave(service, body, accept))
    assert result["verdict"] == "cancelled" and result["usage"]["wall_ms"] < 60000


@pytest.mark.parametrize("accept", [None, "text/event-stream"], ids=["waiting", "streaming"])
def test_service_run_goes_on_without_its_client(service, accept):
    """Its result is in the history."""
    body = program("print('go', flush=True)\ninput()\nprint('woke')", thread_id=f"stays-{accept}", stdin_open=True)
    run_id = leave(service, body, accept)
    # the connection of this request
    assert eventually(lambda: service.get("/v1/stats").json["http"]["connections"] == 1)
    assert service.post(f"/v1/runs/{run_id}/stdin", {"data": "\n", "eof": True}).status == 202
    result = service.finished(run_id)
    assert (result["verdict"], result["stdout"]) == ("ok", "go\nwoke\n")


def test_service_slow_reader_gets_everything(service):
    """Output that a client does not read stays on the disk, not in memory."""
    code = "import sys\nfor i in range(1 << 20): sys.stdout.write('%07d\\n' % i)"
    with service.events(body=program(code, limits={"output": "16m", "wall_ms": 60000, "cpu_ms": 60000})) as events:
        next(events)
        time.sleep(1)
        rest = list(events)
    assert len(output_of(rest)) == 8 << 20 and rest[-1]["result"]["verdict"] == "ok"


# ---- parts of an output ----

@pytest.mark.parametrize("wanted,status,expected,told", [
    ("bytes=0-3", 206, b"0000", "bytes 0-3/50000"),
    ("bytes=49996-", 206, b"999\n", "bytes 49996-49999/50000"),
    ("bytes=-5", 206, b"9999\n", "bytes 49995-49999/50000"),
    ("bytes=49990-99999999", 206, b"9998\n9999\n", "bytes 49990-49999/50000"),
    ("bytes=50000-", 416, None, "bytes */50000"),
    ("bytes=9-3", 200, None, None),
    ("bytes=0-3,7-8", 200, None, None),
    ("lines=1-2", 200, None, None),
    ("bytes=-", 200, None, None),
    ("bytes=12", 200, None, None),
])
def test_service_output_can_be_read_in_parts(service, wanted, status, expected, told, kept={}):
    if "id" not in kept:
        kept["id"] = service.run("for i in range(10000): print(f'{i:04d}')")["id"]
    reply = service.get(f"/v1/runs/{kept['id']}/stdout", headers={"Range": wanted})
    assert (reply.status, reply.headers.get("Content-Range")) == (status, told)
    if status == 206:
        assert reply.body == expected
    elif status == 200:
        assert len(reply.body) == 50000 and reply.headers["Accept-Ranges"] == "bytes"


def test_service_output_of_a_current_run_can_be_read_in_parts(service):
    """Also beyond the part of a journal that is in memory."""
    run_id = started_run(service, "print('a' * 400000 + 'end', flush=True)\ninput()", stdin_open=True)
    path = f"/v1/runs/{run_id}/stdout"
    reply = service.get(path, headers={"Range": "bytes=399999-400002"})
    assert (reply.status, reply.body) == (206, b"aend")
    assert service.get(path, headers={"Range": "bytes=-2"}).body == b"d\n"
    assert service.delete(f"/v1/runs/{run_id}").status == 202


# ---- many runs in one answer ----

def of_run(events, run_id):
    return [e for e in events if e.get("run") == run_id]


def test_streams_has_many_runs_in_one_answer(service):
    over = service.run("print('over')\nimport sys; print('e', file=sys.stderr)")["id"]
    cell = service.post("/v1/sessions", {"language": "bash"}).json["id"]
    cell = service.post(f"/v1/sessions/{cell}/exec", {"code": "echo cell"}).json["id"]
    flood = service.run("print('x' * 3000000)\nprint('end')", wait=False, status=202, limits={"output": "8m"})["id"]
    lives = started_run(service, "import os\nos.write(1, b'first\\n')\ninput()\nprint('second')", stdin_open=True)
    body = {"runs": [{"id": i} for i in (over, cell, flood, lives, "run_unknown")]}
    with service.events("/v1/streams", body, method="POST") as stream:
        seen = []
        while not any(e["event"] == "stdout" for e in of_run(seen, lives)):
            seen.append(next(stream))
        assert service.post(f"/v1/runs/{lives}/stdin", {"data": "\n", "eof": True}).status == 202
        seen += stream  # it ends by itself
    for run_id in (over, flood, lives):
        mine = of_run(seen, run_id)
        alone = service.all_events(f"/v1/runs/{run_id}/events")
        assert [e for e in mine if e["seq"] > 0] == [{**e, "run": run_id} for e in ours(alone)]
    assert [e["event"] for e in of_run(seen, "run_unknown")] == ["missing"]
    assert of_run(seen, cell)[-1]["event"] == "done" and "cell" in json.dumps(of_run(seen, cell))
    # From a position: earlier events do not come again.
    last = [e for e in of_run(seen, lives) if e["event"] == "stdout"][0]["seq"]
    again = service.all_events("/v1/streams", {"runs": [{"id": lives, "after": last}]}, method="POST")
    assert output_of(again) == b"second\n" and again[-1]["event"] == "done"


def test_streams_tells_news_of_the_service(service):
    with service.events("/v1/streams", {"feeds": ["approvals", "sessions", "stats"]}, method="POST") as stream:
        def await_event(name):
            for event in stream:
                if event["event"] == name:
                    return event

        stats = await_event("stats")
        assert stats["now"]["running"] >= 0 and "python" in stats["pools"] and stats["since_start"]["start_ms"] >= 0
        asked = service.run("print(1)", wait=False, status=202, permission_mode="default")
        await_event("approvals")
        assert service.post(f"/v1/approvals/{asked['approval']['id']}", {"decision": "reject"}).status == 200
        await_event("approvals")
        session = service.post("/v1/sessions", {"language": "bash"}).json["id"]
        await_event("sessions")
        assert service.delete(f"/v1/sessions/{session}").status in (200, 202, 204)
        await_event("sessions")


def test_streams_gives_a_key_what_it_may_see(start_service):
    s = start_service()
    admin = s.post("/v1/keys", {"name": "admin", "scopes": ["admin", "run", "read"]}).json["key"]
    mine = s.post("/v1/keys", {"name": "mine", "scopes": ["run"]}, key=admin).json["key"]
    theirs = s.post("/v1/runs", program("print('secret')"), key=admin).json["id"]
    own = s.post("/v1/runs", program("print('own')"), key=mine).json["id"]
    events = s.all_events("/v1/streams", {"runs": [{"id": theirs}, {"id": own}], "feeds": ["stats", "approvals"]},
                          method="POST", headers={"Authorization": f"Bearer {mine}"})
    assert [e["event"] for e in of_run(events, theirs)] == ["missing"] and "secret" not in json.dumps(events)
    assert output_of(events) == b"own\n"
    assert sorted(e["feed"] for e in events if e["event"] == "denied") == ["approvals", "stats"]
    assert not [e for e in events if e["event"] in ("stats", "approvals")]
    assert s.post("/v1/streams", {"feeds": ["stats"]}).status == 401


@pytest.mark.parametrize("body,field", [
    ({"feeds": ["weather"]}, "feeds"), ({"runs": [{"id": "x", "after": -1}]}, "runs[0].after"),
    ({"runs": [{}]}, "runs[0].id"), ({"runs": [{"id": "x"}] * 65}, "runs"),
])
def test_streams_refuses_bad_requests(service, body, field):
    reply = service.post("/v1/streams", body)
    assert reply.status == 400 and reply.json["error"]["field"] == field, reply.json


def test_streams_of_clients_that_leave_cost_nothing(service):
    run_id = started_run(service, "print('on', flush=True)\ninput()", stdin_open=True)
    before = service.get("/v1/stats").json["http"]["connections"]
    for _ in range(20):
        with service.events("/v1/streams", {"runs": [{"id": run_id}], "feeds": ["sessions"]}, method="POST") as stream:
            next(stream)
    assert eventually(lambda: service.get("/v1/stats").json["http"]["connections"] <= before + 2, 20)
    assert service.delete(f"/v1/runs/{run_id}").status == 202
