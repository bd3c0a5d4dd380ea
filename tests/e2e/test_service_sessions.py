"""Sessions of the service: a program that stays and runs one cell after another."""

import json
import os
import signal
import struct
import threading
import time

import pytest
from harness import eventually
from service import Service


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Service("--set", "runs.max=8", "--set", "pools.preload=used") as s:
        yield s


def create(service, **fields):
    reply = service.post("/v1/sessions", {"language": "python", **fields})
    assert reply.status == 201, reply
    return reply.json


def execute(service, session, code, **fields):
    reply = service.post(f"/v1/sessions/{session['id']}/exec", {"code": code, **fields})
    assert reply.status == 200, reply
    return reply.json


@pytest.fixture
def session(service):
    s = create(service)
    yield s
    service.delete(f"/v1/sessions/{s['id']}")


def test_variables_stay_between_the_cells_of_a_session(service, session):
    assert session["state"] == "idle" and session["cells"] == 0, session
    first = execute(service, session, "x = 20\nprint('hello')")
    assert (first["status"], first["verdict"], first["stdout"]) == ("ok", "ok", "hello\n"), first
    assert (first["cell"], first["session"], first["result"]) == (1, session["id"], None), first
    second = execute(service, session, "x + 22")
    assert second["result"]["text/plain"] == "42" and second["execution_count"] == 2, second
    assert second["error"] is None and second["displays"] == [] and second["stdout"] == "", second


def test_an_error_of_a_cell_has_a_name_and_leaves_the_session_alive(service, session):
    execute(service, session, "x = 5")
    failed = execute(service, session, "1 / 0")
    assert (failed["status"], failed["verdict"]) == ("error", "runtime_error"), failed
    assert failed["error"]["name"] == "ZeroDivisionError", failed
    assert "division by zero" in failed["error"]["message"], failed
    frames = failed["diagnosis"]["frames"]
    assert frames and all(f["user"] for f in frames if f["file"].startswith("<cell")), failed["diagnosis"]
    assert execute(service, session, "x")["result"]["text/plain"] == "5"


# The language, an earlier cell, the cell that fails, the file and line of the failure, the replacement.
SLIPS = {
    "python": ("x = 1", "numbers = [1]\nprint(nmbers)", "<cell 2>", 2, "print(numbers)"),
    "python-earlier": ("numbers = [1]", "print(nmbers)", "<cell 2>", 1, "print(numbers)"),
    "javascript": ("var x = 1", "let numbers = [1]\nconsole.log(nmbers)", "cell-2", 2, "console.log(numbers)"),
    "typescript": ("var x: number = 1", "let numbers = [1]\nconsole.log(nmbers)", "cell-2", 2, "console.log(numbers)"),
    "bash": ("x=1", "x=2\nehco $x", "<cell 2>", 2, "echo $x"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_in_a_cell_is_answered_with_the_line_that_was_meant(service, slip):
    before, cell, file, line, meant = SLIPS[slip]
    s = create(service, language=slip.split("-")[0])
    try:
        execute(service, s, "true" if slip == "bash" else "1", silent=True)  # has no number of its own
        execute(service, s, before)
        found = execute(service, s, cell)["diagnosis"]
        assert (found["location"]["file"], found["location"]["line"]) == (file, line), found
        assert found["suggestions"][0]["replacement"] == meant, found
    finally:
        service.delete(f"/v1/sessions/{s['id']}")


def test_a_function_of_an_earlier_cell_is_not_taken_for_a_line_of_this_one(service):
    s = create(service, language="bash")
    execute(service, s, "f() {\n  caat /x\n}")
    found = execute(service, s, "echo one\nf")["diagnosis"]
    assert found["type"] == "command not found" and found["location"] is None, found
    assert "replacement" not in found["suggestions"][0], found
    service.delete(f"/v1/sessions/{s['id']}")


def test_a_name_that_no_cell_defines_is_told_without_a_guess(service, session):
    found = execute(service, session, "qqqqq")["diagnosis"]
    assert "The session has no value for 'qqqqq'" in found["suggestions"][0]["text"], found
    hostile = execute(service, session, "a" * 100 + "\n")["diagnosis"]  # longer than the names that are compared
    assert "Did you mean" not in hostile["message"], hostile


def test_a_cell_is_a_run_in_the_history_and_the_audit_log(service, session):
    cell = execute(service, session, "print(7)", metadata={"a": 1})
    runs = service.get("/v1/runs?session=" + session["id"]).json["runs"]
    assert [r["id"] for r in runs] == [cell["id"]] and runs[0]["surface"] == "session", runs
    assert service.get(f"/v1/runs/{cell['id']}/stdout").body == b"7\n"
    assert cell["metadata"] == {"a": 1}, cell


def test_sessions_are_listed_changed_and_ended(service):
    made = create(service, name="mine", idle_s=500, ttl_s=600, metadata={"k": [1]})
    path = "/v1/sessions/" + made["id"]
    assert (made["name"], made["idle_s"], made["ttl_s"], made["metadata"]) == ("mine", 500, 600, {"k": [1]}), made
    assert made["id"] in [s["id"] for s in service.get("/v1/sessions?name=mine").json["sessions"]]
    changed = service.request("PATCH", path, {"name": "other", "idle_s": 300}).json
    assert (changed["name"], changed["idle_s"]) == ("other", 300), changed
    assert service.get("/v1/sessions?name=mine").json["sessions"] == []
    ended = service.delete(path)
    assert ended.status == 200 and ended.json["state"] == "ended", ended
    gone = service.get(path)
    assert gone.status == 410 and "deleted" in gone.error["message"], gone
    assert gone.error["code"] == "gone", gone
    assert service.post(path + "/exec", {"code": "1"}).status == 410
    assert made["id"] in [s["id"] for s in service.get("/v1/sessions?state=ended").json["sessions"]]


def test_an_unknown_session_and_a_language_without_sessions_are_refused(service):
    for method, path in (("GET", ""), ("POST", "/exec"), ("DELETE", ""), ("POST", "/interrupt"), ("GET", "/cells")):
        reply = service.request(method, "/v1/sessions/ses_none" + path, {"code": "1"} if path == "/exec" else None)
        assert reply.status == 404 and "ses_none" in reply.error["message"], reply
    refused = service.post("/v1/sessions", {"language": "lua"})
    assert refused.status == 400 and "has no sessions" in refused.error["message"], refused
    refused = service.post("/v1/sessions/ses_none/exec", {"code": "1", "stream": "sse"})
    assert refused.status == 400 and "header Accept" in refused.error["message"], refused
    refused = service.post("/v1/sessions", {"language": "python", "limits": {"wall_ms": 5}})
    assert refused.status == 400 and "cell_limits.wall_ms" in refused.error["message"], refused


def test_a_streamed_cell_sends_events_that_can_be_read_again(service, session):
    code = "print('a')\nfrom IPython.display import display\ndisplay({'text/html': '<b>'}, raw=True)\n'end'"
    reply = service.post(f"/v1/sessions/{session['id']}/exec", {"code": code, "stream": True})
    events = [json.loads(line) for line in reply.body.splitlines()]
    names = [e["event"] for e in events if e["event"] not in ("queued", "started")]
    assert [n for i, n in enumerate(names) if names[i - 1:i] != [n]] == ["stdout", "display", "result", "done"], events
    assert "".join(e["data"] for e in events if e["event"] == "stdout") == "a\n", events
    assert events[-1]["result"]["status"] == "ok" and events[-1]["result"]["cell"] == 1, events
    again = service.get(f"/v1/sessions/{session['id']}/cells/1/events?from={events[-3]['seq']}")
    later = [json.loads(line) for line in again.body.splitlines()]
    assert later == events[-2:], (later, events)


def test_a_cell_that_takes_too_long_is_interrupted_and_the_session_lives_on(service, session):
    execute(service, session, "kept = 1")
    late = execute(service, session, "import time\nprint('begun')\ntime.sleep(600)", timeout=1)
    assert (late["status"], late["verdict"]) == ("timeout", "timeout"), late
    assert late["stdout"] == "begun\n" and late["error"]["name"] == "KeyboardInterrupt", late
    assert any("lives on" in note for note in late["notes"]), late
    advice = " ".join(s["text"] for s in late["diagnosis"]["suggestions"])
    assert '"timeout" of the cell' in advice and '"cell_limits"' in advice and "--" not in advice, advice
    assert execute(service, session, "kept")["result"]["text/plain"] == "1"


def test_an_interrupt_ends_the_cell_and_not_the_session(service, session):
    execute(service, session, "kept = 2")
    answers = []
    thread = threading.Thread(target=lambda: answers.append(
        execute(service, session, "import time\nwhile True: time.sleep(0.01)", timeout=100)))
    thread.start()
    path = "/v1/sessions/" + session["id"]
    assert eventually(lambda: service.get(path).json["cell"] == 2)
    assert eventually(lambda: service.post(path + "/interrupt").status == 202)
    thread.join(60)
    assert (answers[0]["status"], answers[0]["verdict"]) == ("interrupted", "cancelled"), answers
    assert execute(service, session, "kept")["result"]["text/plain"] == "2"
    assert service.post(path + "/interrupt").status == 409


def test_an_interrupt_means_its_cell_also_in_the_line(service, session):
    path = "/v1/sessions/" + session["id"]
    numbers = [service.post(path + "/exec", {"code": code, "wait": False, "timeout": 100}).json["cell"]
               for code in ("import time\nwhile True: time.sleep(0.01)", "ran = 2", "3")]
    assert numbers == [1, 2, 3]
    assert service.post(path + "/interrupt", {"cell": 2}).status == 202  # in the line
    cell = lambda: service.get(path + "/cells/2").json
    assert eventually(lambda: cell()["state"] == "finished"), cell()  # it is recorded after the answer
    dropped = cell()
    assert (dropped["status"], dropped["verdict"]) == ("interrupted", "cancelled"), dropped
    assert any("before it began" in note for note in dropped["notes"]), dropped
    again = service.post(path + "/interrupt", {"cell": 2})
    assert again.status == 409 and "cell 2 is over" in again.error["message"], again
    assert service.post(path + "/interrupt", {"cell": 4}).status == 404
    assert service.post(path + "/interrupt", {"cell": 0}).status == 400
    assert service.post(path + "/interrupt", {"cell": 1}).status == 202
    assert eventually(lambda: service.get(path + "/cells/3").json["state"] == "finished")
    assert service.get(path + "/cells/1").json["status"] == "interrupted"
    assert service.get(path + "/cells/3").json["result"]["text/plain"] == "3"
    assert execute(service, session, "ran")["error"]["name"] == "NameError"


def test_an_interrupt_right_after_its_cell_is_not_lost(service, session):
    path = "/v1/sessions/" + session["id"]
    for n in range(20):
        code = f"import time\nx = {n}\ntime.sleep(600)"
        cell = service.post(path + "/exec", {"code": code, "wait": False, "timeout": 100}).json["cell"]
        time.sleep(n % 5 * 0.002)
        assert service.post(path + "/interrupt").status == 202
        assert eventually(lambda: service.get(f"{path}/cells/{cell}").json.get("status") == "interrupted", 30)
        assert execute(service, session, f"{n}")["result"]["text/plain"] == str(n)


def test_input_asks_and_waits_for_the_client(service, session):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(
        execute(service, session, "name = input('who? ')\nprint('hello', name)", timeout=100)))
    thread.start()
    path = "/v1/sessions/" + session["id"]
    assert eventually(lambda: service.get(path).json["awaits_input"])
    refused = service.post(path + "/exec", {"code": "1"})
    assert refused.status == 409 and "waits for input" in refused.error["message"], refused
    assert service.post(path + "/stdin", {"text": "Ada"}).status == 202
    thread.join(60)
    assert "hello Ada\n" in answers[0]["stdout"], answers
    refused = service.post(path + "/stdin", {"text": "more"})
    assert refused.status == 409 and "no cell runs" in refused.error["message"], refused


def test_cells_of_a_session_run_in_order(service, session):
    path = f"/v1/sessions/{session['id']}/exec"
    execute(service, session, "log = []")
    for i in range(8):
        code = f"import time; time.sleep(0.02); log.append({i})"
        assert service.post(path, {"code": code, "wait": False}).status == 202
    assert execute(service, session, "log")["result"]["text/plain"] == str(list(range(8)))


def test_a_cell_that_was_accepted_is_found_at_once(service, session):
    path = f"/v1/sessions/{session['id']}"
    for _ in range(20):
        accepted = service.post(path + "/exec", {"code": "1", "wait": False})
        assert accepted.status == 202, accepted
        assert service.get(f"{path}/cells/{accepted.json['cell']}").status == 200
        assert service.get(f"/v1/runs/{accepted.json['id']}").status == 200


def test_a_restart_forgets_the_variables_and_keeps_the_session(service, session):
    execute(service, session, "x = 1")
    again = service.post(f"/v1/sessions/{session['id']}/restart")
    assert again.status == 201 and again.json["restarts"] == 1, again
    assert execute(service, session, "x")["error"]["name"] == "NameError"


def test_completions_inspection_and_variables_are_answered(service, session):
    execute(service, session, "alphabet = 'abc'\ndef f(a, b=2):\n    'Adds.'")
    path = "/v1/sessions/" + session["id"]
    found = service.post(path + "/complete", {"code": "print(alpha", "cursor": 11}).json
    assert "alphabet" in [m["text"] for m in found["matches"]] and (found["from"], found["to"]) == (6, 11), found
    seen = service.post(path + "/inspect", {"code": "f"}).json
    assert seen["found"] and "Adds." in json.dumps(seen), seen
    names = {v["name"]: v for v in service.get(path + "/variables").json["variables"]}
    assert names["alphabet"]["type"] == "str" and "abc" in names["alphabet"]["preview"], names


def test_the_notebook_of_a_session_is_valid(service, session):
    execute(service, session, "print('out')\n1 + 1")
    execute(service, session, "undefined")
    path = "/v1/sessions/" + session["id"]
    cells = service.get(path + "/cells").json["cells"]
    assert [(c["cell"], c["status"], c["code"]) for c in cells] == [
        (1, "ok", "print('out')\n1 + 1"), (2, "error", "undefined")], cells
    notebook = service.get(path + "/notebook").json
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5), notebook
    kinds = [[o["output_type"] for o in c["outputs"]] for c in notebook["cells"]]
    assert kinds == [["stream", "execute_result"], ["error"]], notebook
    nbformat = pytest.importorskip("nbformat", reason="python3-nbformat is not installed")
    nbformat.validate(notebook)
    assert service.get(path + "/cells/1").json["stdout"] == "out\n"


@pytest.mark.release_only
def test_cells_that_a_notebook_has_no_room_for_are_told(service, session):
    code = "for _ in range(8): display({'text/plain': 'x' * 2_000_000}, raw=True)"
    for _ in range(6):
        assert len(execute(service, session, code)["displays"]) == 8
    path = "/v1/sessions/" + session["id"]
    notebook = service.get(path + "/notebook").json
    missing = notebook["metadata"]["belljar"]["missing_cells"]
    assert missing == 6 - (len(notebook["cells"]) - 1) >= 1, missing
    assert notebook["cells"][0]["cell_type"] == "markdown", notebook["cells"][0]
    assert f"first {missing} cells of the session are missing" in notebook["cells"][0]["source"]
    newest = service.get(path + "/cells").json
    assert newest["cut"] and newest["cells"][-1]["cell"] == 6, [c["cell"] for c in newest["cells"]]
    oldest = service.get(path + "/cells", {"after": 0, "limit": 2}).json
    assert not oldest["cut"] and [c["cell"] for c in oldest["cells"]] == [1, 2]


def test_a_program_that_ends_is_told_in_a_sentence(service):
    for code, words in (("import os; os._exit(3)", "exit code 3"),
                        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "signal 9")):
        made = create(service)
        lost = execute(service, made, code)
        assert lost["status"] == "lost" and any(words in note for note in lost["notes"]), lost
        gone = service.get("/v1/sessions/" + made["id"])
        assert gone.status == 410 and words in gone.error["message"], gone


def test_a_session_that_nobody_uses_expires(service):
    made = create(service, idle_s=1)
    path = "/v1/sessions/" + made["id"]
    assert eventually(lambda: service.get(path).status == 410)
    assert "idle" in service.get(path).error["message"]


def test_deny_rules_and_permission_modes_hold_for_cells(service, session):
    rule = service.post("/v1/rules", {"action": "deny", "match": "contains", "text": "forbidden_word"})
    assert rule.status in (200, 201), rule
    try:
        denied = execute(service, session, "forbidden_word = 1")
        assert denied["verdict"] == "rejected" and denied["error"]["message"], denied
        assert execute(service, session, "1 + 1")["result"]["text/plain"] == "2"
        for fields in ({"files": {"a.py": "forbidden_word = 1"}}, {"env": {"PYTHONSTARTUP": "forbidden_word"}}):
            refused = service.post("/v1/sessions", {"language": "python", **fields})
            assert refused.status == 403 and rule.json["id"] in refused.error["message"], refused
    finally:
        service.delete("/v1/rules/" + rule.json["id"])


def test_an_approver_sees_everything_that_a_cell_can_run():
    """Files and variables of a session would run unseen, so there are none where a person is asked. An edited cell
    runs as it was edited, in the language of its session."""
    with Service("--set", "approvals.mode=manual") as s:
        for fields in ({"files": {"ls": "#!/bin/sh\necho mine"}}, {"env": {"BASH_ENV": "/sandbox/x"}}):
            refused = s.post("/v1/sessions", {"language": "bash", **fields})
            assert refused.status == 403 and "shown to nobody" in refused.error["message"], refused
        made = create(s, language="bash")
        cell = s.post(f"/v1/sessions/{made['id']}/exec", {"code": "echo asked", "wait": False}).json
        asked = eventually(lambda: s.get("/v1/approvals").json["approvals"])[0]
        path = f"/v1/approvals/{asked['id']}"
        other = s.post(path, {"decision": "edit", "edited_input": {"code": "print(1)", "language": "python"}})
        assert other.status == 400 and "language of its session" in other.error["message"], other
        assert s.post(path, {"decision": "edit", "edited_input": {"code": "echo edited"}}).status == 200
        assert eventually(lambda: s.get(f"/v1/runs/{cell['id']}/stdout").body == b"edited\n")


def test_output_and_displays_of_a_cell_are_bounded(service):
    made = create(service, cell_limits={"output": "64k"})
    loud = execute(service, made, "while True: print('x' * 1000)", timeout=60)
    assert loud["verdict"] == "output_limit" and loud["stdout_truncated"], loud["verdict"]
    assert len(loud["stdout"]) == 65536 and execute(service, made, "1")["status"] == "ok"
    shown = execute(service, made, "from IPython.display import display\nfor i in range(1000): display(i)", timeout=60)
    assert shown["status"] == "ok" and len(shown["displays"]) == 257, len(shown["displays"])
    last = shown["displays"][-1]
    assert last["cut"] and "dropped" in last["data"]["text/plain"], last
    large = execute(service, made, "from IPython.display import HTML\na = HTML('x' * 5_000_000)\ndisplay(a)\na")
    assert large["displays"][0]["cut"] and "text/html of 5,000,000 bytes" in large["displays"][0]["left_out"], large
    assert list(large["result"]) == ["text/plain"] and len(large["notes"]) == 1, large
    assert large["notes"][0].startswith("the result was cut: ") and "text/html of 5,000,000 bytes" in large["notes"][0]
    service.delete("/v1/sessions/" + made["id"])


def test_no_route_shows_or_changes_the_session_of_another_key():
    """Every route of the description that names a session, so a new one is asked about too."""
    bodies = {"exec": {"code": "1"}, "complete": {"code": "a"}, "inspect": {"code": "a"}, "stdin": {"text": "x"},
              "branches": {"candidates": ["1"], "keep": "none"}, "rollback": {"to": 0}}
    with Service() as s:
        owner, other = (s.add_key(name, "run") for name in ("owner", "other"))
        assert eventually(lambda: s.get("/v1/runs").status == 401)
        made = s.post("/v1/sessions", {"language": "bash"}, key=owner).json["id"]
        cell = s.post(f"/v1/sessions/{made}/exec", {"code": "secret=mine; echo $secret"}, key=owner).json
        paths = s.get("/openapi.json", key=owner).json["paths"]
        routes = [(method.upper(), path) for path, methods in paths.items() for method in methods
                  if path.startswith("/v1/sessions/{")]
        assert len(routes) >= 14, routes
        for method, path in routes:
            path = path.replace("{id}", made).replace("{cell}", "1").replace("{path}", "x").replace("{checkpoint}", "x")
            body = bodies.get(path.rpartition("/")[2], {} if method in ("POST", "PATCH", "PUT") else None)
            for key, status in ((other, 404), (None, 401), ("blj_wrong", 401)):
                reply = s.request(method, path, body, key=key)
                assert reply.status == status and b"mine" not in reply.body, (method, path, reply)
        for path in ("/v1/sessions", "/v1/sessions?state=ended", f"/v1/runs?session={made}", "/v1/runs"):
            assert made.encode() not in s.get(path, key=other).body, path
        for path in ("", "/stdout", "/events"):
            assert s.get(f"/v1/runs/{cell['id']}{path}", key=other).status == 404, path
        # A run that names the session as its thread is no cell of it.
        s.post("/v1/runs", {"language": "bash", "code": "echo forged", "thread_id": made}, key=other)
        cells = s.get(f"/v1/sessions/{made}/cells", key=owner).json["cells"]
        assert [c["stdout"] for c in cells] == ["mine\n"], cells
        assert s.delete(f"/v1/sessions/{made}", key=owner).status == 200
        assert s.get(f"/v1/sessions/{made}", key=other).status == 404
        assert made.encode() not in s.get("/v1/sessions?state=ended", key=other).body


# ---- programs that break the protocol ----

# A session program that executes its cells, with functions to send frames of any kind.
ODD = """
import os, socket, struct, sys, time
channel = socket.socket(fileno=3)
seq = 0
def send(type, request=1, data=b"", number=None, flags=0):
    global seq
    seq += 1
    channel.send(struct.pack("<IIHH", seq if number is None else number, request, type, flags) + data)
def field(tag, data):
    return struct.pack("<HHI", tag, 0, len(data)) + data
send(32, 0)
while True:
    packet = channel.recv(40000)
    if not packet:
        break
    request = struct.unpack("<I", packet[4:8])[0]
    code = packet[20:20 + struct.unpack("<I", packet[16:20])[0]].decode()
    exec(code)
    sys.stdout.flush()
    send(39, request, field(18, b"ok"))
"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    from harness import public_dir
    directory = public_dir()
    (directory / "odd.lang").write_text(
        "name = odd\nextensions = .odd\nmain_file = main.odd\ncommand = /usr/bin/python3 {file}\n"
        "session = /usr/bin/python3 -I /sandbox/program.py\nversion = /usr/bin/python3 --version\ninstall = none\n")
    with Service("--set", "pools.max=0", "--set", f"languages.dir={directory}", "--set", "sessions.max=8") as s:
        yield s


def create_odd(odd, **fields):
    return create(odd, language="odd", files={"program.py": ODD}, **fields)


@pytest.mark.parametrize("attack, words", [
    ("channel.send(b'short')", "broke the protocol"),
    ("send(99)", "broke the protocol"),
    ("send(64)", "broke the protocol"),
    ("send(1)", "broke the protocol"),
    ("send(33, request, number=1000)", "broke the protocol"),
    ("send(32, 0)", "broke the protocol"),
    ("send(39, request, field(18, b'fine'))", "broke the protocol"),
    ("[send(33, request, b'x' * 30000, flags=1) for i in range(100)]", "broke the protocol"),
    ("[send(41, request) for i in range(60000)]", "broke the protocol"),
    ("[send(33, 77) for i in range(11000)]", "broke the protocol"),
    ("[send(38, request, b'x' * 30000) for i in range(600)]", "broke the protocol"),
    ("channel.close(); time.sleep(60)", "closed the channel"),
])
def test_a_program_that_breaks_the_protocol_ends_its_own_session_only(odd, attack, words):
    """The keeper and a session beside it do not notice."""
    keeper, other = odd.half("keeper").pid, create_odd(odd)
    victim = create_odd(odd)
    lost = execute(odd, victim, attack, timeout=60)
    assert lost["status"] == "lost" and any(words in note for note in lost["notes"]), lost
    gone = odd.get("/v1/sessions/" + victim["id"])
    assert gone.status == 410 and words in gone.error["message"], gone
    assert execute(odd, other, "print(1)")["stdout"] == "1\n"
    assert odd.half("keeper").pid == keeper
    odd.delete("/v1/sessions/" + other["id"])


def test_frames_of_other_requests_are_dropped_and_text_is_repaired(odd):
    """A thread of an earlier cell cannot speak for the next one."""
    made = create_odd(odd)
    shown = field_of("text/plain", b"mine\xff")
    cell = execute(odd, made, f"send(33, 77, {field_of('text/plain', b'stray')!r}); send(33, request, {shown!r})")
    assert [d["data"] for d in cell["displays"]] == [{"text/plain": "mine\N{REPLACEMENT CHARACTER}"}], cell
    odd.delete("/v1/sessions/" + made["id"])


def test_a_half_closed_channel_ends_its_own_session_only(odd):
    """The cells after it cannot begin. The keeper asks the warden for no second cell beside an unfinished one, which
    would end the keeper and the sessions of everybody."""
    warden, other, victim = odd.half("warden").pid, create_odd(odd), create_odd(odd)
    execute(odd, victim, "import threading\ndef end():\n    time.sleep(0.2)\n    channel.shutdown(socket.SHUT_WR)\n"
            "    time.sleep(60)\nthreading.Thread(target=end).start()")
    time.sleep(0.5)
    for _ in range(3):
        reply = odd.post(f"/v1/sessions/{victim['id']}/exec", {"code": "print(2)"})
        assert reply.status in (200, 410), reply
        assert reply.status == 410 or reply.json["status"] in ("ok", "lost"), reply
    assert execute(odd, other, "print(1)")["stdout"] == "1\n"
    assert odd.half("warden").pid == warden
    for s in (other, victim):
        odd.delete("/v1/sessions/" + s["id"])


def test_notes_and_results_of_a_cell_are_bounded(odd):
    made = create_odd(odd)
    cell = execute(odd, made, "for i in range(1000): send(41, request, field(3, b'n'))", timeout=60)
    assert cell["status"] == "ok" and len(cell["notes"]) == 257 and "dropped" in cell["notes"][-1], cell["notes"][-2:]
    cell = execute(odd, made, "for i in range(1000): send(36, request, field(13, b'%d' % i))", timeout=60)
    assert cell["status"] == "ok" and any("dropped" in note for note in cell["notes"]), cell
    odd.delete("/v1/sessions/" + made["id"])


def test_a_cell_after_two_restarts_runs_in_the_last_program(odd):
    """The program of the first restart gets ready while the second one ends it."""
    slow = ODD.replace("send(32, 0)", "time.sleep(1)\nsend(32, 0)")
    made = create(odd, language="odd", files={"program.py": slow})
    path, warden, replies = f"/v1/sessions/{made['id']}", odd.half("warden").pid, []
    calls = [threading.Thread(target=lambda p=p, b=b: replies.append(odd.post(path + p, b)))
             for p, b in (("/restart", {}), ("/restart", {}), ("/exec", {"code": "time.sleep(1)\nprint(1)"}))]
    calls[0].start()
    time.sleep(0.6)
    os.kill(warden, signal.SIGSTOP)
    try:
        calls[1].start()
        time.sleep(0.7)
        calls[2].start()
        time.sleep(0.2)
    finally:
        os.kill(warden, signal.SIGCONT)
    for call in calls:
        call.join(timeout=30)
    assert [r.status for r in replies] == [201, 201, 200], replies
    assert replies[-1].json["stdout"] == "1\n", replies
    odd.delete(path)


def test_sessions_leave_no_descriptors(odd):
    """Ended by a client, by their program, after a restart, and while a cell runs."""
    ways = (lambda p: None, lambda p: odd.post(p + "/exec", {"code": "os._exit(0)"}),
            lambda p: odd.post(p + "/restart", {}),
            lambda p: odd.post(p + "/exec", {"code": "time.sleep(60)", "wait": False}))

    def after_rounds(n):
        for i in range(n):
            path = f"/v1/sessions/{create_odd(odd)['id']}"
            ways[i % len(ways)](path)
            odd.delete(path)
        return [len(os.listdir(f"/proc/{odd.half(name).pid}/fd")) for name in ("keeper", "warden")]
    before = after_rounds(4)
    # A leak grows with each try. Other work does not.
    assert eventually(lambda: all(n <= b + 3 for b, n in zip(before, after_rounds(20), strict=True)), within=60), before


def test_the_end_of_a_session_is_recorded_whatever_its_program_says(odd):
    def ended():
        return {s["id"] for s in odd.get("/v1/sessions?state=ended").json["sessions"]}
    before = ended()
    program = ODD.replace("send(32, 0)", "send(41, 0, field(3, b'\\xff' * 200))\nos._exit(69)")
    refused = odd.post("/v1/sessions", {"language": "odd", "files": {"program.py": program}})
    assert refused.status == 503 and "\N{REPLACEMENT CHARACTER}" in refused.error["message"], refused
    assert len(ended() - before) == 1


def field_of(mime, data):
    return b"".join(struct.pack("<HHI", tag, 0, len(value)) + value for tag, value in ((9, mime.encode()), (10, data)))


def test_sessions_are_capped(odd):
    made = [create_odd(odd) for _ in range(8 - len(odd.get("/v1/sessions").json["sessions"]))]
    refused = odd.post("/v1/sessions", {"language": "odd", "files": {"program.py": ODD}})
    assert refused.status == 503 and "sessions.max" in refused.error["message"], refused
    for s in made:
        odd.delete("/v1/sessions/" + s["id"])


def test_a_session_that_cannot_start_says_why(odd):
    refused = odd.post("/v1/sessions", {"language": "odd", "files": {"program.py": "raise SystemExit(5)"}})
    assert refused.status == 503 and "exit code 5" in refused.error["message"], refused


def test_a_cell_that_ignores_its_interrupt_is_ended_and_the_loss_is_told(odd):
    made = create_odd(odd)
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: time.sleep(1)"
    lost = execute(odd, made, code, timeout=0.5)
    assert (lost["status"], lost["verdict"]) == ("lost", "timeout"), lost
    assert any("variables are lost" in note for note in lost["notes"]), lost
    assert odd.get("/v1/sessions/" + made["id"]).status == 410


def test_a_slow_question_is_interrupted_and_the_session_lives_on(odd):
    made = create_odd(odd)
    path = "/v1/sessions/" + made["id"]
    execute(odd, made, "import signal; hits = []; signal.signal(signal.SIGINT, lambda *_: hits.append(1))")
    answers = []

    def ask():
        answers.append(odd.post(path + "/complete", {"code": "while not hits: time.sleep(0.01)", "cursor": 0}))

    def expect_no_answer():
        reply = answers.pop()
        assert reply.status == 503 and "lives on" in reply.error["message"], reply
        assert execute(odd, made, "print(len(hits)); hits.clear()")["stdout"] == "1\n"

    thread = threading.Thread(target=ask)
    thread.start()
    assert eventually(lambda: odd.get(path).json["state"] == "busy")
    assert odd.post(path + "/interrupt").status == 202  # by a client
    thread.join(60)
    expect_no_answer()
    ask()  # by its time limit
    expect_no_answer()
    odd.delete(path)


def test_a_killed_warden_ends_its_sessions_and_says_so(odd):
    made = create_odd(odd)
    os.kill(odd.half("warden").pid, signal.SIGKILL)
    assert eventually(lambda: odd.get("/v1/sessions/" + made["id"]).status == 410)
    assert "died" in odd.get("/v1/sessions/" + made["id"]).error["message"]
    assert eventually(lambda: odd.post("/v1/sessions", {"language": "odd", "files": {"program.py": ODD}}).status == 201)


def test_sessions_need_a_jar():
    with Service("--set", "runs.isolation=process") as s:
        refused = s.post("/v1/sessions", {"language": "python"})
        assert refused.status == 503 and "isolation level" in refused.error["message"], refused


def test_a_session_warns_its_clients_before_it_expires(service):
    made = create(service, idle_s=40)
    path = f"/v1/sessions/{made['id']}"
    for sse in (False, True):
        with service.events(path + "/events", sse=sse) as stream:
            events = (e for e in stream if e["event"] not in ("keepalive", "state"))
            warning = next(events)  # the session ends in less than a minute
            assert (warning["event"], warning["limit"]) == ("expiring", "idle_s"), warning
    with service.events(path + "/events") as stream:
        assert [next(stream)["event"] for _ in range(2)] == ["state", "expiring"]
        assert service.get(path).json["state"] == "idle"  # a look is no event
        execute(service, made, "1")
        events = (e for e in stream if e["event"] != "keepalive")
        seen = [next(events) for _ in range(3)]
        assert [(e["event"], e.get("state")) for e in seen] == \
            [("state", "busy"), ("state", "idle"), ("expiring", None)], seen
        assert seen[2]["expires_at"] > warning["expires_at"], (seen, warning)  # the cell put it off
        assert service.delete(path).status == 200
        last = list(events)
        assert [e["event"] for e in last] == ["ended"] and "deleted" in last[0]["reason"], last
    assert service.get(path + "/events").status == 410
    assert service.get("/v1/sessions/ses_none/events").status == 404


def test_metrics_count_sessions_and_cells(service, session):
    def sample():
        lines = service.get("/metrics").body.decode().splitlines()
        return {name: float(value) for name, value in (x.rsplit(" ", 1) for x in lines if x[0] != "#")}

    before = sample()
    assert before['belljar_sessions{state="idle"}'] >= 1 and before['belljar_sessions{state="starting"}'] == 0, before
    execute(service, session, "1")
    after = sample()
    assert after["belljar_cells_total"] == before["belljar_cells_total"] + 1
    assert after["belljar_sessions_memory_bytes"] > before["belljar_sessions_memory_bytes"], after
    service.delete("/v1/sessions/" + session["id"])
    ended = sample()
    assert ended['belljar_sessions{state="idle"}'] == after['belljar_sessions{state="idle"}'] - 1
    assert ended["belljar_sessions_total"] == after["belljar_sessions_total"]
