"""Ports of E2B's sandboxes: programs that listen in a jar, reached as PORT-ID.DOMAIN. One service, and one sandbox with
a server of HTTP and one that answers as it likes."""

import http.client
import json
import socket
import struct
from types import SimpleNamespace

import pytest

from harness import eventually
from service import Service

SERVER = r"""
import json, socket, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        n = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(n)
        told = {"method": self.command, "path": self.path, "headers": self.headers.items(), "size": len(body)}
        data = json.dumps(told).encode()
        self.send_response(201 if self.command == "POST" else 200)
        for line in ("a=1", "b=2; Path=/; Domain=localhost", "c=3; domain =x", "domain=4"):
            self.send_header("Set-Cookie", line)
        for name, value in (("Clear-Site-Data", '"*"'), ("Alt-Svc", "h2=x:1"), ("X-Mine", "yes"),
                            ("Strict-Transport-Security", "max-age=1"), ("Connection", "X-Hop"), ("X-Hop", "1"),
                            ("Content-Type", "application/json"), ("Content-Length", str(len(data)))):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
    do_POST = do_HEAD = do_OPTIONS = do_DELETE = do_GET
    def log_message(self, *_):
        pass

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
RAW = {
    "/close": OK + b"\r\nuntil the end",
    "/chunks": CHUNKED + b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    "/interim": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nhi and more",
    "/none": b"HTTP/1.1 204 No Content\r\n\r\n",
    "/lengths": OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi!",
    "/both": OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "/lf": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi",
    "/fold": OK + b"X-A: b\r\n c\r\nContent-Length: 2\r\n\r\nhi",
    "/nul": OK + b"X-A: b\0c\r\nContent-Length: 2\r\n\r\nhi",
    "/name": OK + b"X A: b\r\nContent-Length: 2\r\n\r\nhi",
    "/large": OK + b"X-A: " + b"a" * 70000 + b"\r\n\r\n",
    "/upgrade": b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nraw",
    "/interims": b"HTTP/1.1 100 Continue\r\n\r\n" * 20 + OK + b"\r\n",
    "/text": b"SSH-2.0-nope\r\n",
    "/nothing": b"",
    "/short": OK + b"Content-Length: 100\r\n\r\nonly this",
    "/badchunk": CHUNKED + b"5\r\nhello\r\nzz\r\n",
    "/big": OK + b"Content-Length: %d\r\n\r\n" % (6 << 20) + b"0123456789abcdef" * (6 << 16),
}

def answer(c):
    head = b""
    while b"\r\n\r\n" not in head:
        piece = c.recv(65536)
        if not piece:
            return
        head += piece
    path = head.split()[1].decode()
    if path == "/wait":
        c.recv(1)
    elif path == "/ws":
        c.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                  b"Sec-WebSocket-Accept: x\r\n\r\nfirst ")
        while data := c.recv(65536):
            c.sendall(data.upper())
    else:
        c.sendall(RAW[path])
    c.close()

def raw():
    s = socket.create_server(("::1", 3001), family=socket.AF_INET6, backlog=200)
    while True:
        threading.Thread(target=answer, args=(s.accept()[0],), daemon=True).start()

threading.Thread(target=raw, daemon=True).start()
ThreadingHTTPServer(("127.0.0.1", 3000), Handler).serve_forever()
"""


@pytest.fixture(scope="module")
def door():
    with Service("--set", "doors.e2b=on") as s:
        key, boss = s.add_key("one", "run"), s.add_key("boss", "admin")
        made = s.post("/v2/sandboxes", {"timeout": 600}, key=key).json
        to = {"E2b-Sandbox-Id": made["sandboxID"], "X-Access-Token": made["envdAccessToken"]}
        here = SimpleNamespace(service=s, id=made["sandboxID"], token=made["envdAccessToken"], domain=made["domain"],
                               key=key, boss=boss)
        assert s.request("POST", "/files?path=server.py", SERVER.encode(),
                         headers={**to, "Content-Type": "application/octet-stream"}).status == 200
        body = json.dumps({"process": {"cmd": "python3", "args": ["server.py"]}, "stdin": False}).encode()
        process = http.client.HTTPConnection("127.0.0.1", s.port, timeout=60)
        process.request("POST", "/process.Process/Start", struct.pack(">BI", 0, len(body)) + body,
                        {**to, "Content-Type": "application/connect+json"})
        assert process.getresponse().status == 200
        assert eventually(lambda: ask(here, "/").status == 200, 60)
        yield here
        process.close()


def ask(door, path, method="GET", port=3000, host=None, body=None, **headers):
    c = http.client.HTTPConnection("127.0.0.1", door.service.port, timeout=60)
    name = host or f"{port}-{door.id}.localhost:{door.service.port}"
    c.request(method, path, body, {"Host": name, **{k.replace("_", "-"): v for k, v in headers.items()}})
    answer = c.getresponse()
    try:
        answer.data = answer.read()
    finally:
        c.close()
    return answer


def test_a_program_in_a_sandbox_is_reached_by_the_name_of_its_port(door):
    """E2B-6: a request is passed on, and so is its answer, without the parts that belong to one connection."""
    assert door.domain == f"localhost:{door.service.port}", "getHost() of an SDK makes PORT-ID.DOMAIN of it"
    sent = {"X_Mine": "1", "X_Hop": "1", "Connection": "x-hop", "Cookie": "a=1", "Authorization": "Basic eDp5",
            "X_API_Key": door.key, "X_Access_Token": door.token, "E2B_Traffic_Access_Token": door.token,
            "Origin": "http://elsewhere.example", "Sec_Fetch_Site": "cross-site"}
    got = ask(door, "/a%20b?c=%41&c&" + "n" * 100, "POST", body=b"x" * (1 << 20), **sent)
    assert got.status == 201 and got.getheader("Content-Type") == "application/json"
    told = json.loads(got.data)
    assert (told["method"], told["path"], told["size"]) == ("POST", "/a%20b?c=%41&c&" + "n" * 100, 1 << 20)
    names = {name.lower(): value for name, value in told["headers"]}
    assert names["host"] == f"3000-{door.id}.localhost:{door.service.port}" and names["connection"] == "close"
    assert names["x-mine"] == "1" and names["cookie"] == "a=1" and names["authorization"] == "Basic eDp5"
    assert not {"x-hop", "x-api-key", "x-access-token", "e2b-traffic-access-token"} & set(names)
    assert door.key not in got.data.decode() and door.token not in got.data.decode()
    bearer = json.loads(ask(door, "/", Authorization=f"Bearer {door.key}").data)
    assert "authorization" not in {name.lower() for name, _ in bearer["headers"]}, "keys stay outside"
    # the answer
    cookies = [value for name, value in got.getheaders() if name == "Set-Cookie"]
    assert cookies == ["a=1", "domain=4"], "no cookie is for more than its host"
    assert got.getheader("X-Mine") == "yes" and got.getheader("Origin-Agent-Cluster") == "?1"
    for name in ("Clear-Site-Data", "Alt-Svc", "Strict-Transport-Security", "X-Hop"):
        assert got.getheader(name) is None, name
    for method in ("OPTIONS", "DELETE"):
        assert json.loads(ask(door, "/", method).data)["method"] == method
    assert ask(door, "/", "HEAD").data == b""
    assert ask(door, "/", "PROPFIND").status == 405


def test_the_names_of_ports_have_nothing_of_the_service_and_its_names_no_port(door):
    """DOOR-3, E2B-6"""
    for path, headers in (("/v1/health", {}), ("/console/", {}), ("/mcp", {}),
                          ("/v2/sandboxes", {"X_API_Key": door.key}),
                          ("/files?path=server.py", {"E2b_Sandbox_Id": door.id, "X_Access_Token": door.token})):
        assert json.loads(ask(door, path, **headers).data)["path"] == path
    for host in ("localhost", f"127.0.0.1:{door.service.port}"):
        got = ask(door, "/", host=host, E2b_Sandbox_Id=door.id, E2b_Sandbox_Port="3000", X_Access_Token=door.token)
        assert got.status in (404, 502), (host, got.data)
    for host in (f"3000-{door.id}.localhost.evil.example", f"3000-{door.id}.example", f"3000{door.id}.localhost",
                 f"03000-{door.id}.localhost", f"70000-{door.id}.localhost", f"-{door.id}.localhost", "3000-.localhost",
                 f"3000-{door.id}", f"3000-{door.id}.localhos", f"3000-{'a' * 40}.localhost", "x.localhost"):
        got = ask(door, "/v1/health", host=host)
        assert got.status == 403 and b"not a name of this service" in got.data, host
    # A page of a guest is no page of ours: it can neither read nor change anything.
    page = f"http://3000-{door.id}.localhost:{door.service.port}"
    assert ask(door, "/v1/health", host="localhost", Origin=page).status == 403
    assert ask(door, "/v1/health", host="localhost", Sec_Fetch_Site="same-site").status == 403
    assert ask(door, "/", host=f"3000-{door.id}.LOCALHOST".replace("ses", "SES")).status == 200


def test_answers_of_a_program_are_parsed_and_written_anew(door):
    """REPLY-1, REPLY-2: the words of a guest are data; its framing never reaches a client."""
    def get(path, **headers):
        return ask(door, path, port=3001, **headers)
    assert get("/close").data == b"until the end"
    assert get("/chunks").data == b"hello world"
    assert get("/interim").data == b"hi"
    assert get("/none").status == 204
    for path in ("/lengths", "/both", "/lf", "/fold", "/nul", "/name", "/large", "/upgrade", "/interims", "/text",
                 "/nothing"):
        got = get(path)
        assert got.status == 502 and "Port 3001" in json.loads(got.data)["message"], (path, got.data)
    for path in ("/short", "/badchunk"):
        with pytest.raises(http.client.IncompleteRead):
            get(path)
    got = ask(door, "/", port=3002)
    assert got.status == 502 and "Port 3002 of the sandbox: no program listens" in got.data.decode()
    # Two requests on one connection: each has its own answer.
    c = http.client.HTTPConnection("127.0.0.1", door.service.port, timeout=60)
    for path, data in (("/chunks", b"hello world"), ("/interim", b"hi"), ("/lf", None), ("/chunks", b"hello world")):
        c.request("GET", path, headers={"Host": f"3001-{door.id}.localhost"})
        answer = c.getresponse()
        assert data in (None, answer.read())
        answer.read()
    c.close()


def connect(door, path, *lines, port=3001):
    c = socket.create_connection(("127.0.0.1", door.service.port), timeout=60)
    c.sendall("\r\n".join([f"GET {path} HTTP/1.1", f"Host: {port}-{door.id}.localhost", *lines, "", ""]).encode())
    return c


def test_large_answers_wait_for_their_reader_and_websockets_go_both_ways(door):
    slow = connect(door, "/big")
    head = slow.recv(1)
    assert ask(door, "/").status == 200, "an answer that nobody reads holds up no other one"
    c = connect(door, "/ws", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: eA==",
                "Sec-WebSocket-Version: 13")
    got = b""
    while b"first " not in got:
        got += c.recv(65536)
    assert got.startswith(b"HTTP/1.1 101 ") and b"Sec-WebSocket-Accept: x\r\n" in got
    for _ in range(20):
        c.sendall(b"x" * 100000)
        n = 0
        while n < 100000:
            piece = c.recv(1 << 20)
            assert piece and set(piece) == {ord("X")}
            n += len(piece)
    c.close()
    while len(head) < (6 << 20):
        piece = slow.recv(1 << 20)
        assert piece
        head += piece
    slow.close()


def test_ports_are_bounded_private_if_asked_and_closed_by_rules(door):
    s = door.service
    made = s.post("/v2/sandboxes", {"network": {"allowPublicTraffic": False}}, key=door.key).json
    hidden = {"host": f"3000-{made['sandboxID']}.localhost"}
    assert ask(door, "/", **hidden).status == 403
    assert ask(door, "/", **hidden, E2B_Traffic_Access_Token=door.token).status == 403
    got = ask(door, "/", **hidden, E2B_Traffic_Access_Token=made["trafficAccessToken"])
    assert got.status == 502 and b"listens" in got.data
    assert s.delete(f"/sandboxes/{made['sandboxID']}", key=door.key).status == 204
    got = ask(door, "/", **hidden)
    assert got.status == 502 and b"not found" in got.data

    waiting = [connect(door, "/wait") for _ in range(64)]
    assert eventually(lambda: ask(door, "/").status == 503, 60)
    for c in waiting:
        c.close()
    assert eventually(lambda: ask(door, "/").status == 200, 60)

    # A request is input of a process, which cannot be compared with a rule that denies texts.
    rule = s.post("/v1/rules", {"action": "deny", "match": "contains", "text": "forbidden"}, key=door.boss).json["id"]
    assert ask(door, "/").status == 403
    assert s.delete(f"/v1/rules/{rule}", key=door.boss).status == 204
    assert ask(door, "/").status == 200
