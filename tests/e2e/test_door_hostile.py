"""Attacks through the doors: a client with a valid key that wants more than it may have. One service has all doors
open, and the keys one and two, which have nothing in common."""

import http.client
import json
import os
import select
import struct
from types import SimpleNamespace

import pytest

from harness import eventually
from service import ROOMY, Service, in_threads

META = "io.modelcontextprotocol/"
DOORS = [word for name in ("mcp", "e2b", "piston", "judge0") for word in ("--set", f"doors.{name}=on")]


def envelope(body):
    data = json.dumps(body).encode()
    return struct.pack(">BI", 0, len(data)) + data


def last_message(data):
    while True:
        _, n = struct.unpack_from(">BI", data)
        message, data = json.loads(data[5:5 + n]), data[5 + n:]
        if not data:
            return message


@pytest.fixture(scope="module")
def doors():
    with Service(*DOORS, *ROOMY, "--set", "network.max=example.org") as s:
        keys = {name: s.add_key(name, scopes) for name, scopes in (("one", "run"), ("two", "run"), ("boss", "admin"))}
        yield SimpleNamespace(service=s, **keys)


def create(doors, key=None, **body):
    reply = doors.service.post("/v2/sandboxes", {"timeout": 600, **body}, key=key or doors.one)
    assert reply.status == 201, reply
    return reply.json["sandboxID"]


def to(doors, sandbox, method, path, body=None, key=None, kind=None, **headers):
    """A request to a sandbox itself."""
    head = {"E2b-Sandbox-Id": sandbox, **({"Content-Type": kind} if kind else {}), **headers}
    return doors.service.request(method, path, body, headers=head, key=key or doors.one)


def start(doors, sandbox, process, key=None, **more):
    """The word of the error of a command, or None."""
    body = envelope({"process": process, "stdin": False, **more})
    reply = to(doors, sandbox, "POST", "/process.Process/Start", body, key, "application/connect+json")
    assert reply.status == 200, reply
    return last_message(reply.body).get("error", {}).get("code")


def mcp(doors, key, method, headers=None, **params):
    reply = doors.service.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, key=key,
                               headers={"Accept": "application/json, text/event-stream",
                                        "MCP-Protocol-Version": "2025-11-25", **(headers or {})})
    assert reply.status == 200, reply
    lines = [line[6:] for line in reply.body.decode().splitlines() if line.startswith("data: ")]
    return json.loads(lines[-1]) if lines else reply.json


def tool(doors, key, name, headers=None, **arguments):
    return mcp(doors, key, "tools/call", headers, name=name, arguments=arguments)["result"]


def test_nothing_of_one_key_is_reached_by_another_through_any_door(doors):
    s, one, two = doors.service, doors.one, doors.two
    sandbox = create(doors)
    snapshot = s.post(f"/sandboxes/{sandbox}/snapshots", {"name": "mine"}, key=one).json["snapshotID"]
    submission = {"source_code": "print('secret')", "language_id": 71}
    token = s.post("/submissions?wait=true", submission, key=one).json["token"]
    cell = tool(doors, one, "run_cell", code="x = 'secret'; x")["structuredContent"]
    session, run = cell["session"], cell["run_id"]
    assert tool(doors, one, "write_file", session=session, path="a.txt", content="secret")["isError"] is False

    # E2B
    for method, path, body in (("GET", "", None), ("DELETE", "", None), ("POST", "/timeout", {"timeout": 5}),
                               ("POST", "/pause", {}), ("POST", "/connect", {}), ("POST", "/fork", {}),
                               ("POST", "/snapshots", {}), ("GET", "/metrics", None), ("PUT", "/network", {})):
        reply = s.request(method, f"/sandboxes/{sandbox}{path}", body, key=two)
        assert reply.status == 404 and sandbox in reply.json["message"], reply
    assert s.get("/v2/sandboxes", key=two).json == [] and s.get("/snapshots", key=two).json == []
    assert s.get(f"/snapshots?sandboxID={sandbox}", key=two).json == []
    for name in (snapshot, "mine"):
        assert s.post("/v2/sandboxes", {"templateID": name}, key=two).status == 404
        assert s.delete(f"/templates/{name}", key=two).status == 404
    for method, path, body in (("GET", "/health", None), ("POST", "/execute", {"code": "1"}),
                               ("GET", "/contexts", None), ("POST", "/contexts", {}),
                               ("POST", "/contexts/default/restart", {}),
                               ("DELETE", "/contexts/default", None), ("GET", "/files?path=/etc/passwd", None),
                               ("POST", "/files?path=x", b"x"), ("POST", "/process.Process/List", {}),
                               ("POST", "/filesystem.Filesystem/ListDir", {"path": "/"})):
        assert to(doors, sandbox, method, path, body, two).status == 502, path
    assert to(doors, sandbox, "POST", "/process.Process/Start", envelope({"process": {"cmd": "true"}}), two,
              "application/connect+json").status == 502

    # Judge0
    assert s.get(f"/submissions/{token}", key=two).status == 404
    assert s.get(f"/submissions/batch?tokens={token}", key=two).json == {"submissions": [None]}
    assert s.get("/submissions", key=two).status == 403
    assert s.get(f"/submissions/{run}", key=one).status == 404, "a run that is no submission"

    # MCP
    begun = s.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize",
                            "params": {"protocolVersion": "2025-11-25", "capabilities": {}}}, key=one)
    stolen = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"]}
    assert s.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=stolen, key=two).status == 404
    for path in (f"runs/{run}", f"runs/{run}/stdout", f"runs/{run}/request", f"runs/{token}",
                 f"sessions/{session}/files", f"sessions/{session}/notebook", f"sessions/{session}/files/a.txt"):
        assert "error" not in mcp(doors, one, "resources/read", uri=f"belljar://{path}"), path
        assert mcp(doors, two, "resources/read", uri=f"belljar://{path}")["error"]["code"] == -32002, path
    told = json.dumps(mcp(doors, two, "resources/list"))
    assert not any(id in told for id in (run, session, sandbox, token)), told
    ref = {"ref": {"type": "ref/resource", "uri": "belljar://sessions/{id}/files"},
           "argument": {"name": "id", "value": ""}}
    assert mcp(doors, two, "completion/complete", **ref)["result"]["completion"]["values"] == []
    for name, arguments in (("run_cell", {"code": "x"}), ("list_files", {}), ("read_file", {"path": "a.txt"}),
                            ("undo", {}), ("write_file", {"path": "b", "content": "x"}), ("fork_session", {}),
                            ("end_session", {})):
        for id in (session, sandbox):
            result = tool(doors, two, name, session=id, **arguments)
            assert result["isError"] and "secret" not in json.dumps(result), result

    # Everything is as it was.
    assert tool(doors, one, "run_cell", code="x", session=session)["structuredContent"]["result"] == "'secret'"
    assert to(doors, sandbox, "GET", "/health").status == 204
    for id in (sandbox, session):
        assert s.delete(f"/v1/sessions/{id}", key=one).status == 200


def test_e2b_rules_see_everything_that_a_client_gives(doors):
    """E2B-2, RULESET-1: also words that a shell would not read as they look, input, and files."""
    s = doors.service
    sandbox = create(doors)
    kept = "application/octet-stream"
    gzip = {"kind": kept, "Content-Encoding": "gzip"}
    assert to(doors, sandbox, "POST", "/files?path=gz", b"\x1f\x8b", **gzip).status == 400
    rule = s.post("/v1/rules", {"action": "deny", "match": "contains", "text": "forbidden"}, key=doors.boss).json["id"]
    begins = s.post("/v1/rules", {"action": "deny", "match": "prefix", "text": "nice ", "language": "bash"},
                    key=doors.boss).json["id"]
    denied = "permission_denied"
    bash = {"cmd": "/bin/bash"}
    assert start(doors, sandbox, {**bash, "args": ["-l", "-c", "true"]}) is None
    for process in ({**bash, "args": ["-c", "forbidden"]}, {**bash, "args": ["-c", "forbidden", "-c", "true"]},
                    {**bash, "args": ["-x", "-c", "forbidden"]}, {"args": ["-c", "forbidden"]},
                    {"cmd": "", "args": ["-c", "forbidden"]}, {"cmd": "/bin/echo", "args": ["forbidden"]},
                    {**bash, "args": ["-c", "true"], "envs": {"BASH_ENV": "forbidden"}},
                    {**bash, "args": ["-c", "true"], "cwd": "/forbidden"}, {**bash, "args": ["-c", "nice true"]},
                    {**bash, "args": ["-c", "nice true"], "cwd": "/tmp"}, {"cmd": "nice", "args": ["true"]}):
        assert start(doors, sandbox, process) == denied, process
    for process in ({**bash, "args": {"-c": 1, "true": 1}}, {**bash, "args": "ab"}, {**bash, "args": [["-c"]]},
                    {"cmd": ["/bin/bash"]}, {**bash, "envs": ["A"]}, {**bash, "envs": {"A": 1}},
                    {**bash, "cwd": 5}, "x"):
        assert start(doors, sandbox, process) == "invalid_argument", process

    assert to(doors, sandbox, "POST", "/execute", {"code": "'forbidden'"}).body.count(b"rejected") == 1
    assert to(doors, sandbox, "POST", "/process.Process/SendInput", {"process": {"pid": 1}, "input": {}}).status == 403
    form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n--b--\r\n'
    for path, bytes, headers in (("/files?path=a", b"x forbidden x", {}), ("/files?path=forbidden", b"x", {}),
                                 ("/files", form % (b"forbidden", b"x"), {"kind": "multipart/form-data; boundary=b"}),
                                 ("/files", form % (b"a", b"forbidden"), {"kind": "multipart/form-data; boundary=b"}),
                                 ("/files?path=a", b"x", {"X-Metadata-Note": "forbidden"}),
                                 ("/files?path=a", b"\x1f\x8b", {"Content-Encoding": "gzip"})):
        reply = to(doors, sandbox, "POST", path, bytes, **{"kind": kept, **headers})
        assert reply.status == 403 and b"rule" in reply.body, (path, reply)
    for method, body in (("MakeDir", {"path": "forbidden"}), ("Move", {"source": "a", "destination": "forbidden"}),
                         ("Remove", {"path": "forbidden"})):
        assert to(doors, sandbox, "POST", f"/filesystem.Filesystem/{method}", body).status == 403, method
    listed = to(doors, sandbox, "POST", "/filesystem.Filesystem/ListDir", {"path": "/home/user"}).json
    assert listed.get("entries", []) == [], "nothing of it arrived"

    assert to(doors, sandbox, "POST", "/files?path=fine", b"x", kind=kept).status == 200
    for id in (rule, begins):
        assert s.delete(f"/v1/rules/{id}", key=doors.boss).status == 204
    move = {"source": "fine", "destination": "moved"}
    assert to(doors, sandbox, "POST", "/filesystem.Filesystem/Move", move).status == 200
    audit = s.cli("audit", "show").out + s.cli("audit", "list").out
    assert b"session.file_write" in audit and b"fine" in audit and b"moved" in audit
    assert s.delete(f"/sandboxes/{sandbox}", key=doors.one).status == 204


def test_e2b_gives_nothing_to_a_sandbox_that_a_person_would_have_to_see():
    """E2B-2: a rule allows one command as it is, and no input, directory or file beside it."""
    with Service(*DOORS, "--set", "approvals.mode=manual") as s:
        doors = SimpleNamespace(service=s, one=s.add_key("one", "run"), boss=s.add_key("boss", "admin"))
        cells = {"action": "allow", "match": "any", "language": "python"}
        assert s.post("/v1/rules", cells, key=doors.boss).status == 201
        sandbox = create(doors)
        allow = {"action": "allow", "match": "prefix", "text": "echo fine", "language": "bash"}
        assert s.post("/v1/rules", allow, key=doors.boss).status == 201
        line = {"cmd": "/bin/bash", "args": ["-c", "echo fine"]}
        assert start(doors, sandbox, line) is None
        assert start(doors, sandbox, {"cmd": "echo", "args": ["fine", "a; b"]}) is None, "a word is a word"
        for process, more in ((line, {"stdin": True}), (line, {"stdin": None}), (line, {"pty": {"size": {}}}),
                              ({**line, "cwd": "/tmp"}, {}),
                              ({**line, "envs": {"A": "1"}}, {}), ({"cmd": "echo fine"}, {}),
                              ({"cmd": "/bin/bash", "args": ["-c", "echo fine; id"]}, {}),
                              ({"cmd": "/bin/bash", "args": ["-c", "id", "-c", "echo fine"]}, {})):
            assert start(doors, sandbox, process, **more) == "permission_denied", (process, more)
        for id in [r["id"] for r in s.get("/v1/rules", key=doors.boss).json["rules"]]:
            assert s.delete(f"/v1/rules/{id}", key=doors.boss).status == 204
        assert to(doors, sandbox, "POST", "/files?path=a", b"x", kind="text/plain").status == 403
        assert to(doors, sandbox, "POST", "/filesystem.Filesystem/Remove", {"path": "a"}).status == 403


def test_e2b_facts_that_a_client_of_v1_wrote_do_no_harm(doors):
    """E2B-4"""
    s = doors.service
    good = {"template": "base", "end_ms": 1 << 50, "metadata": {}, "contexts": [], "auto_resume": True}
    session = s.post("/v1/sessions", {"language": "python", "metadata": {"e2b": good}}, key=doors.one).json["id"]
    assert to(doors, session, "GET", "/health").status == 204
    for facts in ({}, [], "x", {**good, "contexts": [1]}, {**good, "contexts": [{"id": 5}]}, {**good, "contexts": {}},
                  {**good, "metadata": {"a": 1}}, {**good, "metadata": None}, {**good, "end_ms": "x"},
                  {**good, "dropped": [1]}, {**good, "dropped": ["x"] * 1000}, {**good, "template": None}):
        changed = s.request("PATCH", f"/v1/sessions/{session}", {"metadata": {"e2b": facts}}, key=doors.one)
        assert changed.status == 200, changed
        assert s.get(f"/sandboxes/{session}", key=doors.one).status == 404, facts
        assert to(doors, session, "GET", "/contexts").status == 502, facts
        assert to(doors, session, "POST", "/execute", {"code": "1", "context_id": "x"}).status == 502, facts
        assert s.get("/v2/sandboxes?metadata=a%3Db", key=doors.one).json == []
    other = s.post("/v1/sessions", {"language": "bash", "metadata": {"e2b": good}}, key=doors.one).json["id"]
    assert to(doors, other, "GET", "/health").status == 502, "a sandbox is a session of Python"
    for id in (session, other):
        assert s.delete(f"/v1/sessions/{id}", key=doors.one).status == 200


TERMINALS = """
import errno, fcntl, os, termios
opened, failed = [], None
while failed is None and len(opened) < 100:
    try:
        opened.append(os.openpty())
    except OSError as e:
        failed = errno.errorcode[e.errno]
injected = []
for request in (termios.TIOCSTI, termios.TIOCSETD, 0x541C, termios.TIOCCONS):
    try:
        fcntl.ioctl(opened[0][1], request, b"x\\0\\0\\0") if opened else None
        injected.append(request)
    except OSError as e:
        injected.append(errno.errorcode[e.errno])
print(len(opened), failed, len(os.listdir("/dev/pts")), injected)
for pair in opened:
    os.close(pair[0]), os.close(pair[1])
"""


def test_e2b_terminals_are_few_and_in_sandboxes_alone(doors, service):
    """ROOT-4"""
    s, one, two = doors.service, create(doors), create(doors)
    denied = "['EPERM', 'EPERM', 'EPERM', 'EPERM']"
    before = set(os.listdir("/dev/pts"))
    opens = to(doors, one, "POST", "/execute", {"code": TERMINALS + "kept = os.openpty()\nprint(os.ttyname(kept[1]))"})
    told = "".join(json.loads(line).get("text", "") for line in opens.body.splitlines())
    assert told == f"8 ENOSPC 9 {denied}\n/dev/pts/0\n", told
    seen = to(doors, two, "POST", "/execute", {"code": "import os\nprint(os.listdir('/dev/pts'))"}).body
    assert b"['ptmx']" in seen, seen
    assert set(os.listdir("/dev/pts")) <= before, "a terminal of the host"
    for id in (one, two):
        assert s.delete(f"/sandboxes/{id}", key=doors.one).status == 204
    run = s.post("/v1/runs", {"code": TERMINALS, "language": "python"}, key=doors.one).json
    assert run["stdout"].startswith("0 ENOENT 0"), run
    session = service.post("/v1/sessions", {"language": "python"}).json["id"]
    cell = service.post(f"/v1/sessions/{session}/exec", {"code": TERMINALS}).json
    assert cell["stdout"].startswith("0 ENOENT 0"), cell
    assert service.delete(f"/v1/sessions/{session}").status == 200


def test_e2b_numbers_beyond_all_bounds_are_refused(doors):
    s = doors.service
    for token in (1 << 63, (1 << 63) - 1, -1, 1025):
        assert s.get(f"/v2/sandboxes?nextToken={token}", key=doors.one).status == 400, token
    for expires in ((1 << 63) - 1, 1 << 70, -(1 << 63), "x"):
        reply = s.get(f"/files?path=a&signature=v1_x&signature_expiration={expires}")
        assert reply.status == 401 and "signature" in reply.json["message"], reply
    sandbox = create(doors)
    answers = [to(doors, sandbox, "POST", "/contexts/default/restart", {}).status for _ in range(257)]
    assert answers == [204] * 256 + [429]
    assert b"42" in to(doors, sandbox, "POST", "/execute", {"code": "6*7"}).body
    assert to(doors, sandbox, "POST", "/contexts/default/restart", {}).status == 204
    assert s.delete(f"/sandboxes/{sandbox}", key=doors.one).status == 204


def test_e2b_bytes_for_a_helper_that_does_not_read_are_bounded(doors):
    """E2B-5: also the bytes of clients that left."""
    s = doors.service
    sandbox = create(doors)
    assert to(doors, sandbox, "POST", "/filesystem.Filesystem/Stat", {"path": "/"}).status == 200
    stop = ("import os, signal\nfor p in filter(str.isdigit, os.listdir('/proc')):\n"
            "    if b'belljar_helper' in open(f'/proc/{p}/cmdline', 'rb').read():\n"
            "        os.kill(int(p), signal.SIGSTOP); print('stopped')")
    assert b"stopped" in to(doors, sandbox, "POST", "/execute", {"code": stop}).body
    piece = bytes(8 << 20)
    waiting = []
    head = {"E2b-Sandbox-Id": sandbox, "Authorization": f"Bearer {doors.one}",
            "Content-Type": "application/octet-stream"}
    for _ in range(8):
        c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=60)
        c.request("POST", "/files?path=a", piece, head)
        waiting.append(c)
    sockets = [c.sock for c in waiting]
    answered = eventually(lambda: [c for c in waiting if c.sock in select.select(sockets, [], [], 1)[0]], 30)
    assert answered
    refused = answered[0].getresponse()
    assert refused.status == 507 and b"does not read" in refused.read()
    for c in waiting:
        c.close()
    again = to(doors, sandbox, "POST", "/files?path=a", piece, kind="application/octet-stream")
    assert again.status == 507, "the bytes of clients that left count, too"
    assert s.delete(f"/sandboxes/{sandbox}", key=doors.one).status == 204


def test_e2b_a_paused_sandbox_resumes_for_a_request_about_a_context(doors):
    s = doors.service
    sandbox = create(doors, autoResume={"enabled": True}, autoPause=True)
    context = to(doors, sandbox, "POST", "/contexts", {}).json["id"]
    assert s.post(f"/sandboxes/{sandbox}/pause", {}, key=doors.one).status == 204
    assert to(doors, sandbox, "DELETE", f"/contexts/{context}").status == 204
    assert [c["id"] for c in to(doors, sandbox, "GET", "/contexts").json] == ["default"]
    assert s.delete(f"/sandboxes/{sandbox}", key=doors.one).status == 204


def test_e2b_a_copy_of_a_snapshot_has_no_network_that_its_client_refused(doors):
    s = doors.service
    sandbox = create(doors)
    assert s.get(f"/sandboxes/{sandbox}", key=doors.one).json["allowInternetAccess"] is True
    snapshot = s.post(f"/sandboxes/{sandbox}/snapshots", {}, key=doors.one).json["snapshotID"]
    copy = create(doors, templateID=snapshot, allow_internet_access=False)
    assert s.get(f"/sandboxes/{copy}", key=doors.one).json["allowInternetAccess"] is False
    for more in ({"network": {"allowOut": ["example.org"]}}, {"envVars": {"A": "1"}}):
        refused = s.post("/v2/sandboxes", {"templateID": snapshot, **more}, key=doors.one)
        assert refused.status == 400 and "snapshot" in refused.json["message"], refused
    for id in (copy, sandbox):
        assert s.delete(f"/sandboxes/{id}", key=doors.one).status == 204


def test_judge0_callbacks_reach_the_listed_host_and_no_other(doors):
    """JUDGE0-1: also where the text of a URL looks like the listed host, and for addresses in other forms."""
    s = doors.service
    body = {"source_code": "1", "language_id": 71}
    for host in (f"127.0.0.1:{s.port}", f"localhost:{s.port}", f"[::1]:{s.port}", f"[::ffff:127.0.0.1]:{s.port}",
                 "0.0.0.0", f"2130706433:{s.port}", f"0x7f000001:{s.port}", "169.254.169.254", "10.0.0.1", "evil.org",
                 "example.org.evil", "example.org@127.0.0.1", "example.org:80@127.0.0.1", "127.0.0.1\\@example.org",
                 "example.org:22", "",
                 "example.org:80:80", "example.org:99999", "a" * 300):
        for scheme in ("http", "https"):
            reply = s.post("/submissions", {**body, "callback_url": f"{scheme}://{host}/x"}, key=doors.one)
            assert reply.status == 422 and list(reply.json) == ["callback_url"], (host, reply)
    for url in ("ftp://example.org/", "file:///etc/passwd", "//example.org/", "example.org", 5, {"a": 1},
                ["http://example.org/"]):
        reply = s.post("/submissions", {**body, "callback_url": url}, key=doors.one)
        assert reply.status == 422 and list(reply.json) == ["callback_url"], (url, reply)
    several = {"submissions": [{**body, "callback_url": "http://127.0.0.1/"}]}
    batch = s.post("/submissions/batch", several, key=doors.one)
    assert batch.status == 422 and "callback_url" in batch.json[0]

    def callbacks():
        return [x["id"] for x in s.get("/v1/runs", key=doors.boss).json["runs"] if x["surface"] == "judge0-callback"]
    assert not callbacks()
    assert s.post("/submissions", {**body, "callback_url": "http://example.org/x"}, key=doors.one).status == 201
    sent, = eventually(callbacks, 30)
    shown = s.get(f"/v1/runs/{sent}/request", key=doors.boss).json
    assert shown["request"]["network"] == {"allow": ["example.org:80"]}, shown
    s.post(f"/v1/runs/{sent}/cancel", {}, key=doors.boss)


def test_origins_of_other_sites_are_refused_by_every_door(doors):
    """Also with a key, and with a name that a page can point at this address."""
    s, evil = doors.service, {"Origin": "http://evil.example"}
    for headers in (evil, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Host": "evil.example"}):
        for method, path in (("POST", "/mcp"), ("DELETE", "/mcp"), ("POST", "/v2/sandboxes"), ("GET", "/v2/sandboxes"),
                             ("POST", "/api/v2/execute"), ("GET", "/api/v2/connect"), ("POST", "/submissions"),
                             ("GET", "/submissions/x"), ("POST", "/process.Process/Start")):
            reply = s.request(method, path, {} if method == "POST" else None, headers=headers, key=doors.one)
            assert reply.status == 403, (path, headers, reply)


def is_rpc_error(answer):
    return answer["jsonrpc"] == "2.0" and isinstance(answer["error"]["code"], int) and answer["error"]["message"]


# The path of each door, and the form of its errors.
ERRORS = {
    "mcp": ("/mcp", is_rpc_error),
    "e2b": ("/v2/sandboxes", lambda answer: isinstance(answer["code"], int) and answer["message"]),
    "connect": ("/process.Process/List", lambda answer: isinstance(answer["code"], str) and answer["message"]),
    "piston": ("/api/v2/execute", lambda answer: set(answer) == {"message"}),
    "judge0": ("/submissions?wait=true", lambda answer: set(answer) == {"error"}),
}


def send(doors, path, body, length=None, headers=None):
    """A connection with a request on it. With `length`, the body is shorter than its head says."""
    c = http.client.HTTPConnection("127.0.0.1", doors.service.port, timeout=60)
    c.putrequest("POST", path)
    head = {"Content-Type": "application/json", "Authorization": f"Bearer {doors.one}", "X-API-Key": doors.one,
            "X-Auth-Token": doors.one, "Content-Length": str(len(body) if length is None else length)}
    for name, value in {**head, **(headers or {})}.items():
        c.putheader(name, value)
    c.endheaders(body)
    return c


@pytest.mark.parametrize("door", ERRORS)
def test_bytes_that_no_door_reads_are_errors_in_its_own_form(doors, door):
    """Also bodies that are too large, too deep, no UTF-8, no JSON or empty, and clients that leave in the middle."""
    path, fits = ERRORS[door]
    sandbox = create(doors)
    headers = {"E2b-Sandbox-Id": sandbox} if door == "connect" else {}
    for body, length in ((b"", 1 << 30), (b"[" * 200_000, None), (b'{"a":' * 200_000, None), (b'"\xff\xfe"', None),
                         (b"\0" * 50, None), (b'{"a": 1', None), (b'{"a": 1} x', None), (b"[1e999]", None),
                         (b'"' + b"x" * 100_000 + b'"', None), (b"5", None), (b"null", None)):
        c = send(doors, path, body, length, headers)
        reply = c.getresponse()
        text = reply.read()
        assert 400 <= reply.status < 500 and reply.getheader("Content-Type").startswith("application/json"), (
            body[:20], reply.status, text)
        assert fits(json.loads(text)), (body[:20], text)
        assert length is None or reply.status == 413, (body[:20], reply.status, text)
        c.close()
    for body in (b"", b'{"', b'{"code": "1"'):
        send(doors, path, body, 1000, headers).close()
    assert doors.service.healthy()
    assert doors.service.delete(f"/sandboxes/{sandbox}", key=doors.one).status == 204


def test_two_clients_use_one_session_at_a_time(doors):
    """Their cells take turns, through any two doors, and a client that leaves takes only its own cell with it."""
    s, sandbox = doors.service, create(doors)
    assert to(doors, sandbox, "POST", "/execute", {"code": "n = 0"}).status == 200
    add = "import time\nbefore = n\ntime.sleep(0.02)\nn = before + 1"
    jobs = [lambda: to(doors, sandbox, "POST", "/execute", {"code": add}).status,
            lambda: tool(doors, doors.one, "run_cell", code=add, session=sandbox)["isError"]] * 4
    assert in_threads(jobs) == [200, False] * 4
    left = send(doors, "/execute", json.dumps({"code": "n = -1\ntime.sleep(100)"}).encode(),
                headers={"E2b-Sandbox-Id": sandbox})
    left.getresponse()
    left.close()
    told = tool(doors, doors.one, "run_cell", code="n", session=sandbox)
    assert told["structuredContent"]["result"] in ("-1", "8"), told
    assert s.delete(f"/sandboxes/{sandbox}", key=doors.one).status == 204


def test_judge0_and_piston_clients_that_leave_in_the_middle(doors):
    """A submission goes on, as in Judge0, and its result can be read by two clients. A run of Piston goes on, too."""
    s = doors.service
    slow = "import time; time.sleep(1); print('done')"
    for path, body in (("/submissions?wait=true", {"source_code": slow, "language_id": 71}),
                       ("/api/v2/execute", {"language": "python", "version": "*", "files": [{"content": slow}]})):
        surface = path.split("?")[0].strip("/").split("/")[0].replace("submissions", "judge0").replace("api", "piston")
        before = {x["id"] for x in s.get("/v1/runs", key=doors.boss).json["runs"]}
        c = send(doors, path, json.dumps(body).encode())
        found = eventually(lambda: [x["id"] for x in s.get("/v1/runs", key=doors.boss).json["runs"]
                                    if x["id"] not in before and x["surface"] == surface], 30)
        assert found, surface
        c.close()
        run = found[0]
        # /v1 has the output while the program ends; Judge0 has it with the result.
        assert eventually(lambda: s.get(f"/v1/runs/{run}", key=doors.one).json.get("state") == "finished", 30)
        assert s.get(f"/v1/runs/{run}", key=doors.one).json["stdout"] == "done\n"
        if surface == "judge0":
            read = in_threads([lambda: s.get(f"/submissions/{run}", key=doors.one).json["stdout"]] * 2)
            assert read == ["done\n", "done\n"]


def test_mcp_uris_lead_to_no_other_route(doors):
    """MCPURI-1: an escape in a URI is a byte of a name, and never a part of a path."""
    s = doors.service
    session = tool(doors, doors.one, "run_cell", code="1")["structuredContent"]["session"]
    run = tool(doors, doors.one, "run_code", code="1", language="python")["structuredContent"]["run_id"]
    for path in (f"runs/{run}%2Fevents", f"sessions/{session}%2Fevents", f"sessions/{session}%2Fevents/notebook",
                 "runs/x%2F..%2F..%2Fkeys",
                 "runs/%2e%2e%2fkeys", "runs/../keys", "keys", "../keys", "runs/x?limit=1", "runs/x%00", "runs/x%",
                 "runs/%zz",
                 "runs//stdout", "artifacts/x%2Fversions", f"sessions/{session}", "runs/A", "x" * 5000):
        error = mcp(doors, doors.one, "resources/read", uri=f"belljar://{path}")["error"]
        assert error["code"] == -32002 and "templates" in error["message"], (path, error)
    assert s.delete(f"/v1/sessions/{session}", key=doors.one).status == 200


def test_mcp_sessions_and_requests_that_end_while_a_sandbox_begins(doors):
    """MCP-2, MCP-3: whichever is first, no sandbox and no run is left."""
    s = doors.service

    def of_mcp(key):
        return [x["id"] for x in s.get("/v1/sessions", key=key).json["sessions"] if x["metadata"] == {"made_by": "mcp"}]

    def leave(message, headers):
        c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=60)
        c.request("POST", "/mcp", json.dumps(message), {"Content-Type": "application/json",
                                                        "Authorization": f"Bearer {doors.two}", **headers})
        return c

    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "run_cell", "arguments": {"code": "import time; time.sleep(1000)", "timeout": 1000}}}
    for _ in range(3):
        begun = s.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize",
                                "params": {"protocolVersion": "2025-11-25", "capabilities": {}}}, key=doors.two)
        mine = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"]}
        c = leave(call, mine)
        # The session is there, and its sandbox begins, or has begun.
        assert eventually(lambda: of_mcp(doors.two), 20)
        assert s.delete("/mcp", headers=mine, key=doors.two).status == 204
        assert eventually(lambda: not of_mcp(doors.two), 20), "the sandbox outlived its session of MCP"
        c.close()

    call["params"]["_meta"] = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}
    for _ in range(3):
        leave(call, {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "run_cell"}).close()
    begun = eventually(lambda: len(of_mcp(doors.two)) == 3, 20)
    assert begun, "a sandbox of this revision is an ordinary session"

    def idle():
        found = s.get("/v1/sessions", key=doors.two).json["sessions"]
        return all(x["state"] == "idle" for x in found)
    assert eventually(idle, 30), "the end of the stream cancels"
    for id in of_mcp(doors.two):
        assert s.delete(f"/v1/sessions/{id}", key=doors.two).status == 200
