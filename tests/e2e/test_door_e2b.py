"""The door of E2B: the unmodified SDKs against a service, and requests that no SDK would send."""
import base64
import hashlib
import http.client
import json
import os
import shutil
import struct
import subprocess
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest
from harness import eventually
from service import Service

CLIENTS = Path(__file__).resolve().parent.parent / "clients"
KEY = "e2b_" + "0" * 40


@pytest.fixture(scope="module")
def door():
    service = Service("--set", "doors.e2b=on").start()
    yield service
    service.stop(now=True)


def ask(service, method, path, body=None, headers=None, kind="application/json", within=30):
    connection = http.client.HTTPConnection("127.0.0.1", service.ports[0], timeout=within)
    data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    head = {"X-API-Key": KEY, **({"Content-Type": kind} if data is not None else {}), **(headers or {})}
    connection.request(method, path, data, head)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, answer.getheader("Content-Type"), text


def envelope(body, flags=0):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return struct.pack(">BI", flags, len(data)) + data


def messages(data):
    found = []
    while data:
        flags, n = struct.unpack_from(">BI", data)
        found.append((flags, json.loads(data[5:5 + n])))
        data = data[5 + n:]
    return found


@pytest.fixture(scope="module")
def sandbox(door):
    status, _, text = ask(door, "POST", "/v2/sandboxes", {"templateID": "base", "timeout": 600})
    assert status == 201, text
    made = json.loads(text)
    return {"E2b-Sandbox-Id": made["sandboxID"], "E2b-Sandbox-Port": "49983", "X-Access-Token": made["envdAccessToken"]}


def test_the_unmodified_sdks_work(door):
    """More than 60 calls, with an assertion for each (tests/clients/e2b.mjs)."""
    if not (CLIENTS / "node_modules/@e2b/code-interpreter").is_dir() or not shutil.which("node"):
        pytest.skip("E2B's SDKs are not installed: scripts/test-clients-deps gets them")
    url = f"http://127.0.0.1:{door.ports[0]}"
    env = {**os.environ, "E2B_API_URL": url, "E2B_SANDBOX_URL": url, "E2B_API_KEY": KEY}
    done = subprocess.run(["node", CLIENTS / "e2b.mjs"], env=env, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["calls"] >= 60
    assert "killed" in told["killed"]


def test_bad_requests_are_errors_in_the_form_of_the_protocol(door, sandbox):
    stream = {**sandbox, "Connect-Protocol-Version": "1"}
    bad = "invalid_argument"
    start = {"process": {"cmd": "/bin/bash", "args": ["-l", "-c", "echo 1"]}}

    def refused(method, path, status, words, body=None, headers=None, kind="application/json"):
        got, content_type, text = ask(door, method, path, body, headers, kind)
        assert got == status and content_type == "application/json", (path, got, text)
        error = json.loads(text)
        assert words in error["message"], error
        return error["code"]

    assert refused("POST", "/v2/sandboxes", 400, "timeout", {"timeout": -1}) == 400
    assert refused("POST", "/v2/sandboxes", 404, "'nope' not found", {"templateID": "nope"}) == 404
    assert refused("POST", "/v2/sandboxes", 400, "JSON", b"{") == 400
    assert refused("POST", "/v2/sandboxes", 400, "volumeMounts", {"volumeMounts": [{}]}) == 400
    assert refused("POST", "/v2/sandboxes", 400, "egressProxy", {"network": {"egressProxy": {"address": "a:1"}}}) == 400
    assert refused("GET", "/v2/sandboxes?state=flying", 400, "flying") == 400
    assert refused("GET", "/v2/sandboxes?nextToken=x", 400, "nextToken") == 400
    assert refused("GET", "/sandboxes/nope", 404, "nope") == 404
    assert refused("DELETE", "/sandboxes/nope", 404, "nope") == 404
    assert refused("POST", "/sandboxes/nope/timeout", 404, "nope", {"timeout": 5}) == 404
    assert refused("POST", "/v3/templates", 501, "templates", {}) == 501
    assert refused("GET", "/volumes", 501, "volumes") == 501

    # The sandbox itself.
    gone = {**sandbox, "E2b-Sandbox-Id": "ses_none"}
    assert refused("POST", "/execute", 502, "not found", {"code": "1"}, gone) == 502
    assert refused("GET", "/health", 502, "not found", headers=gone) == 502
    assert refused("POST", "/process.Process/List", 502, "not found", {}, gone) == "unavailable"
    assert refused("GET", "/health", 502, "port", headers={**sandbox, "E2b-Sandbox-Port": "3000"}) == 502
    assert refused("POST", "/execute", 400, "code", {}, sandbox) == 400
    both = {"code": "1", "language": "python", "context_id": "default"}
    assert refused("POST", "/execute", 400, "both", both, sandbox) == 400
    assert refused("POST", "/execute", 404, "Context x", {"code": "1", "context_id": "x"}, sandbox) == 404
    assert refused("GET", "/files?path=nope", 404, "nope", headers=sandbox) == 404
    assert refused("GET", "/files", 400, "path", headers=sandbox) == 400
    assert refused("POST", "/files?path=a", 400, "boundary", b"x", sandbox, "multipart/form-data") == 400
    assert refused("POST", "/files", 400, "middle", b"--b\r\nx", sandbox, "multipart/form-data; boundary=b") == 400
    assert refused("POST", "/files?path=a", 400, "gzip", b"x", {**sandbox, "Content-Encoding": "gzip"},
                   "application/octet-stream") == 400
    assert refused("GET", "/files?path=a&signature=v1_x", 401, "signature") == 401
    assert refused("POST", "/process.Process/Nope", 404, "Nope", {}, sandbox) == "not_found"
    newer = {**sandbox, "Connect-Protocol-Version": "2"}
    assert refused("POST", "/process.Process/List", 400, "Version", {}, newer) == bad
    assert refused("POST", "/process.Process/List", 400, "Content-Type", b"x", sandbox, "application/proto") == bad
    assert refused("POST", "/process.Process/List", 400, "JSON", b"[", sandbox) == "invalid_argument"
    assert refused("POST", "/process.Process/SendSignal", 404, "5", {"process": {"pid": 5}, "signal": "SIGNAL_SIGKILL"},
                   sandbox) == "not_found"
    assert refused("POST", "/filesystem.Filesystem/Stat", 400, "path", {"path": 5}, sandbox) == "invalid_argument"

    # A stream tells its error in its last message.
    for body, code, words in ((b"", "invalid_argument", "head"), (b"\0\0\0\0\x09{}", "invalid_argument", "2 follow"),
                              (envelope(start, 1), bad, "compressed"), (envelope(b"nope"), bad, "JSON"),
                              (envelope({"process": {"cmd": "/nope", "args": []}}), "not_found", "/nope"),
                              (envelope({"process": {"cmd": "/bin/bash", "args": [1]}}), "invalid_argument", "text"),
                              (envelope({"process": {"cmd": "/bin/bash", "cwd": "/nope"}}), bad, "/nope")):
        status, kind, text = ask(door, "POST", "/process.Process/Start", body, stream, "application/connect+json")
        assert status == 200 and kind == "application/connect+json", (body, text)
        (flags, last), = messages(text)
        assert flags == 2 and last["error"]["code"] == code and words in last["error"]["message"], last

    # A process whose stdin gets no base64 lives on.
    connection = http.client.HTTPConnection("127.0.0.1", door.ports[0], timeout=30)
    body = envelope({"process": {"cmd": "/bin/cat", "args": []}, "stdin": True})
    connection.request("POST", "/process.Process/Start", body, {**stream, "Content-Type": "application/connect+json"})
    head = connection.getresponse()
    pid = json.loads(read_message(head))["event"]["start"]["pid"]
    which = {"process": {"pid": pid}}
    assert refused("POST", "/process.Process/SendInput", 400, "base64", {**which, "input": {"stdin": "%"}},
                   sandbox) == bad
    # Its client leaves, and the process goes on.
    connection.close()
    listed = json.loads(ask(door, "POST", "/process.Process/List", {}, sandbox)[2])
    assert [p["pid"] for p in listed["processes"] if p["pid"] == pid] == [pid]
    good = {**which, "input": {"stdin": base64.b64encode(b"x").decode()}}
    assert ask(door, "POST", "/process.Process/SendInput", good, sandbox)[0] == 200
    assert ask(door, "POST", "/process.Process/SendSignal", {**which, "signal": "SIGNAL_SIGKILL"}, sandbox)[0] == 200


def read_message(answer):
    flags, n = struct.unpack(">BI", answer.read(5))
    assert flags == 0
    return answer.read(n)


def test_a_client_that_leaves_interrupts_its_code(door, sandbox):
    """Two clients on one sandbox: the second one waits for the first, which leaves."""
    connection = http.client.HTTPConnection("127.0.0.1", door.ports[0], timeout=30)
    code = {"code": "import time\nhere = 1\nprint('began', flush=True)\ntime.sleep(100)"}
    connection.request("POST", "/execute", json.dumps(code), {**sandbox, "Content-Type": "application/json"})
    answer = connection.getresponse()
    assert b"began" in answer.readline()
    began = time.monotonic()
    connection.close()
    status, _, text = ask(door, "POST", "/execute", {"code": "here"}, sandbox)
    events = [json.loads(line) for line in text.splitlines()]
    assert status == 200 and [e["text"] for e in events if e["type"] == "result"] == ["1"]
    assert events[-1] == {"type": "end_of_execution"} and time.monotonic() - began < 60


def test_a_helper_that_is_killed_is_started_again(door, sandbox):
    """A guest that kills the helper, which is a process of its own, loses its processes, and no more."""
    kill = ("import os, signal\nfor p in filter(str.isdigit, os.listdir('/proc')):\n"
            "    if b'belljar_helper' in open(f'/proc/{p}/cmdline', 'rb').read():\n"
            "        os.kill(int(p), signal.SIGKILL); print('killed')")
    assert ask(door, "POST", "/filesystem.Filesystem/Stat", {"path": "/tmp"}, sandbox)[0] == 200  # it has started
    _, _, text = ask(door, "POST", "/execute", {"code": kill}, sandbox)
    assert b"killed" in text
    assert eventually(lambda: ask(door, "POST", "/filesystem.Filesystem/Stat", {"path": "/tmp"}, sandbox)[0] == 200, 20)


def new_sandbox(door):
    made = json.loads(ask(door, "POST", "/v2/sandboxes", {"templateID": "base"})[2])
    return f"/sandboxes/{made['sandboxID']}", {"E2b-Sandbox-Id": made["sandboxID"],
                                               "X-Access-Token": made["envdAccessToken"]}


def test_the_helper_of_a_new_sandbox_serves_while_its_first_cell_runs(door):
    """The cell ends when a file is there, which the helper writes."""
    place, headers = new_sandbox(door)
    connection = http.client.HTTPConnection("127.0.0.1", door.ports[0], timeout=30)
    code = {"code": "import os, time\nwhile not os.path.exists('/tmp/go'): time.sleep(.01)\nprint('went')"}
    connection.request("POST", "/execute", json.dumps(code), {**headers, "Content-Type": "application/json"})
    written = ask(door, "POST", "/files?path=/tmp/go", b"x", headers, kind="application/octet-stream")
    assert written[0] == 200, written
    assert b"went" in connection.getresponse().read()
    connection.close()
    assert ask(door, "DELETE", place)[0] == 204


def test_a_new_sandbox_pauses_before_its_helper_starts(door):
    """The helper begins in a moment without cells, which comes in the middle of a pause here: the image is large."""
    place, headers = new_sandbox(door)
    code = "import os; large = os.urandom(1 << 20) * 150; print(1)"
    _, _, text = ask(door, "POST", "/execute", {"code": code}, headers)
    assert b"end_of_execution" in text, text
    status, _, text = ask(door, "POST", f"{place}/pause")
    assert status == 204, text
    status, _, text = ask(door, "POST", f"{place}/connect", {"timeout": 60})
    assert status == 201, text
    _, _, text = ask(door, "POST", "/execute", {"code": "print(len(large))"}, headers)
    assert str(150 << 20).encode() in text, text
    listed = ask(door, "POST", "/process.Process/List", {}, {**headers, "E2b-Sandbox-Port": "49983"})
    assert listed[0] == 200, listed
    assert ask(door, "DELETE", place)[0] == 204


def test_tokens_keys_and_rules():
    """A token opens its own sandbox and no other route, and ends with its key (E2B-1). Rules hold for commands
    (E2B-2)."""
    with Service("--set", "doors.e2b=on") as s:
        one, two, boss = s.add_key("one", "run"), s.add_key("two", "run"), s.add_key("boss", "admin")
        assert eventually(lambda: s.get("/v1/languages", key=boss).status == 200)
        made = [json.loads(ask(s, "POST", "/v2/sandboxes", {}, {"X-API-Key": key})[2]) for key in (one, two)]
        ids, tokens = [m["sandboxID"] for m in made], [m["envdAccessToken"] for m in made]

        def by(id, token=None, key=None):
            return {"E2b-Sandbox-Id": id, "X-API-Key": key or "", **({"X-Access-Token": token} if token else {})}

        assert ask(s, "GET", "/health", headers=by(ids[0], tokens[0]))[0] == 204
        assert ask(s, "GET", "/health", headers=by(ids[0], key=one))[0] == 204
        assert ask(s, "GET", "/health", headers=by(ids[0], tokens[1]))[0] == 401
        assert ask(s, "GET", "/health", headers=by(ids[0]))[0] == 401
        assert ask(s, "GET", "/health", headers=by(ids[0], key=two))[0] == 502
        assert ask(s, "GET", f"/sandboxes/{ids[0]}", headers=by(ids[0], tokens[0]))[0] == 401
        assert ask(s, "GET", f"/sandboxes/{ids[0]}", headers={"X-API-Key": two})[0] == 404
        assert ask(s, "POST", "/v2/sandboxes", {}, by(ids[0], tokens[0]))[0] == 401

        # A signed URL is for one path, one operation and one time.
        def signed(path, operation, seconds, method="GET"):
            at = int(time.time()) + seconds
            digest = hashlib.sha256(f"{path}:{operation}::{tokens[0]}:{at}".encode()).digest()
            sign = "v1_" + base64.b64encode(digest).decode().rstrip("=")
            query = urlencode({"path": "a", "signature": sign, "signature_expiration": at})
            return ask(s, method, f"/files?{query}", b"x" if method == "POST" else None, {"X-API-Key": ""})[0]
        assert signed("a", "write", 600, "POST") == 200 and signed("a", "read", 600) == 200
        assert signed("a", "read", -600) == signed("b", "read", 600) == signed("a", "write", 600) == 401

        rule = {"action": "deny", "language": "bash", "match": "contains", "text": "forbidden"}
        assert s.post("/v1/rules", rule, key=boss).status == 201
        for line, code in (("echo forbidden", "permission_denied"), ("echo fine", None)):
            body = envelope({"process": {"cmd": "/bin/bash", "args": ["-l", "-c", line]}})
            head = by(ids[0], tokens[0])
            _, _, text = ask(s, "POST", "/process.Process/Start", body, head, "application/connect+json")
            assert messages(text)[-1][1].get("error", {}).get("code") == code, text
        audit = s.cli("audit", "show").out + s.cli("audit", "list").out
        assert b"session.command" in audit and b"echo fine" in audit and b"echo forbidden" not in audit, audit[-2000:]

        # The token outlives the keeper, and not its key.
        s.restart()
        assert eventually(lambda: ask(s, "GET", "/health", headers=by(ids[0], tokens[0]))[0] in (204, 502))
        assert s.cli("keys", "remove", "one").status == 0
        assert eventually(lambda: ask(s, "GET", "/health", headers=by(ids[0], tokens[0]))[0] == 401)


def test_a_door_that_is_off_says_how_to_open_it(service):
    for path in ("/v2/sandboxes", "/process.Process/Start"):
        status, kind, text = ask(service, "POST", path, {})
        assert status == 404 and kind == "application/json" and b"doors.e2b = on" in text
