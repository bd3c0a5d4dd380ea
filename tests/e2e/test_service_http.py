"""HTTP by hand: pipelining, slow clients, smuggling, floods. An ambiguous request is refused, and a request that is
too much is bounded."""

import json
import resource
import socket
import time

import pytest

from harness import PATIENCE, eventually
from service import read_one, read_to_end, since, sleeper, split_replies, take_reply

HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
CLOSE = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def get(path="/v1/health", *headers, version="HTTP/1.1", host="Host: localhost"):
    lines = [f"GET {path} {version}", *([host] if host else []), *headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def run_request(code, *headers, close=True, framing=None, **more):
    body = json.dumps({"language": "python", "code": code, **more}).encode()
    lines = ["POST /v1/runs HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers]
    lines += ["Connection: close"] if close else []
    lines += [framing or f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n", body


def chunked(body, size=7, extension=b""):
    pieces = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x%s\r\n%s\r\n" % (len(p), extension, p) for p in pieces) + b"0\r\n\r\n"


def assert_refused(service, data, *statuses, **how):
    """One answer, then the connection is closed: nothing behind it is read as a request."""
    replies = service.raw_replies(data, **how)
    assert len(replies) == 1 and replies[0].status in statuses, (data[:200], replies)
    assert set(replies[0].json) == {"error"}, replies[0]
    assert service.healthy()
    return replies[0]


# ---- connections ----


def test_service_answers_pipelined_requests_in_order(service):
    first, body = run_request("import time; time.sleep(0.3); print('slow')", close=False)
    second, body2 = run_request("print('fast')", close=False)
    replies = service.raw_replies(first + body + second + body2 + CLOSE)
    assert [r.status for r in replies] == [200, 200, 200]
    assert [r.json.get("stdout") for r in replies] == ["slow\n", "fast\n", None]


def test_service_keeps_connections_alive(service):
    with service.connect() as s:
        rest = b""
        for i in range(20):
            s.sendall(HEALTH)
            reply, rest = read_one(s, rest)
            assert reply.status == 200 and rest == b""


def test_service_http_1_0_closes(service):
    replies = service.raw_replies(get(version="HTTP/1.0"))
    assert [r.status for r in replies] == [200]


def test_service_connection_close_is_honoured(service):
    assert [r.status for r in service.raw_replies(CLOSE)] == [200]


def test_service_takes_requests_byte_by_byte(service):
    head, body = run_request("print('bytes')")
    assert service.raw_replies(head + body, pace=1)[0].json["stdout"] == "bytes\n"


def test_service_takes_chunked_bodies(service):
    head, body = run_request("print('chunks')", framing="Transfer-Encoding: chunked")
    for data in (chunked(body), chunked(body, 1), chunked(body, 10**6), chunked(body, 5, b";name=value")):
        assert service.raw_replies(head + data)[0].json["stdout"] == "chunks\n"
    assert service.raw_replies(head + chunked(body), pace=1)[0].json["stdout"] == "chunks\n"


def test_service_answers_a_half_closed_connection(service):
    head, body = run_request("print('half')", close=False)
    replies = service.raw_replies(head + body, half_close=True)
    assert [r.json["stdout"] for r in replies] == ["half\n"]


def test_service_half_request_then_nothing(service):
    answer = service.raw(b"GET /v1/hea", half_close=True)
    assert answer == b"" or split_replies(answer)[0].status == 400
    with service.connect() as s:
        s.sendall(b"""\
POST /v1/runs HTTP/1.1\r
Host: localhost\r
Content-Length: 100\r
Content-Type: application/json\r
\r
{""")
        s.shutdown(socket.SHUT_WR)
        answer = read_to_end(s)
    assert answer == b"" or split_replies(answer)[0].status == 400
    assert service.healthy()


def test_service_expect_100_continue(service):
    head, body = run_request("print('continued')", "Expect: 100-continue")
    with service.connect() as s:
        s.sendall(head)
        reply, rest = read_one(s)
        assert (reply.status, rest) == (100, b"")
        s.sendall(body)
        assert split_replies(read_to_end(s))[0].json["stdout"] == "continued\n"


def test_service_expect_100_is_refused_before_the_body(service):
    head, _ = run_request("x", "Expect: 100-continue", framing="Content-Length: 99999999999")
    assert [r.status for r in service.raw_replies(head)] == [413]
    assert service.raw_replies(get("/v1/health", "Expect: magic") + CLOSE)[0].status == 417


def test_service_head_is_get_without_the_body(service):
    whole = service.get("/openapi.json")
    with service.connect() as s:
        s.sendall(b"HEAD /openapi.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = read_to_end(s)
    reply, rest = take_reply(answer, head_only=True)
    assert (reply.status, rest) == (200, b"") and int(reply.headers["Content-Length"]) == len(whole.body)


def test_service_head_of_a_stream_ends_with_its_head(service):
    run_id = service.run(sleeper(100), wait=False, status=202, limits={"wall_ms": "2m"})["id"]
    request = f"HEAD /v1/runs/{run_id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with service.connect(5) as s:
        s.sendall(request + CLOSE)
        reply, rest = take_reply(read_to_end(s), head_only=True)
    assert reply.status == 200 and [r.status for r in split_replies(rest)] == [200]
    service.delete(f"/v1/runs/{run_id}")


def test_service_body_of_a_get_is_passed_over(service):
    replies = service.raw_replies(b"""\
GET /v1/health HTTP/1.1\r
Host: localhost\r
Content-Length: 5\r
\r
hello""" + CLOSE)
    assert [r.status for r in replies] == [200, 200]


@pytest.mark.parametrize("size", [b"ffffffffffffffffff", b"7fffffffffffffff", b"ffffffff"])
def test_service_chunk_of_an_absurd_size_is_413(service, size):
    head, _ = run_request("x", framing="Transfer-Encoding: chunked")
    assert_refused(service, head + size + b"\r\nabc", 400, 413)


def test_service_options_says_what_is_allowed(service):
    reply = service.request("OPTIONS", "/v1/runs")
    assert reply.status == 204 and {"GET", "POST"} <= set(reply.headers["Allow"].replace(" ", "").split(",")), reply
    assert "Access-Control-Allow-Origin" not in reply.headers


def test_service_many_connections_at_once(service):
    connections = [service.connect() for _ in range(200)]
    try:
        for s in connections:
            s.sendall(CLOSE)
        assert all(split_replies(read_to_end(s))[0].status == 200 for s in connections)
    finally:
        for s in connections:
            s.close()


# ---- ambiguous requests ----

SMUGGLED = b"GET /v1/languages HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize("data", [
    POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    POST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    POST + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    POST + b"Content-Length: 4, 4\r\n\r\n0\r\n\r\n",
    POST + b"Content-Length: +4\r\n\r\n0\r\n\r\n",
    POST + b"Content-Length: -4\r\n\r\n0\r\n\r\n",
    POST + b"Content-Length: 0x4\r\n\r\n0\r\n\r\n",
    POST + b"Content-Length: 4 4\r\n\r\n0\r\n\r\n",
    POST + b"Content-Length:\r\n\r\n",
    POST + b"Content-Length : 4\r\n\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding: gzip\r\n\r\n",
    POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\nx\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\n 1\r\na\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\n\r\na\r\n0\r\n\r\n",
    b"GET /v1/health HTTP/1.1\nHost: localhost\n\n",
    b"GET /v1/health HTTP/1.1\r\nHost: localhost\n\r\n",
    b"GET /v1/health HTTP/1.1\rHost: localhost\r\r",
    b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n",
    b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n",
    b"GET /v1/health HTTP/1.1\r\n X: a\r\nHost: localhost\r\n\r\n",
    b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n",
    b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX\0: a\r\n\r\n",
    b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX Y: a\r\n\r\n",
    b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n: a\r\n\r\n",
    b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nnocolon\r\n\r\n",
    b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    b"GET /v1/health HTTP/1.1\r\n\r\n",
    b"GET /v1/health HTTP/1.1\r\nHost: a b\r\n\r\n",
    b"GET /v1/health\r\n\r\n",
    b"GET  /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v1/health  HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET\t/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v1/hea lth HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v1/health\0 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v1/%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v1/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET http://localhost/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET http://evil.example/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 100 + b"\r\n\r\n",
    b"\0" * 100 + b"\r\n\r\n",
    b"\r\n\r\n\r\n\r\n" + HEALTH,
], ids=lambda d: repr(d[-48:]))
def test_service_refuses_what_can_be_read_in_two_ways(service, data):
    assert_refused(service, data + SMUGGLED, 400)


@pytest.mark.parametrize("data, status", [
    (b"""\
PRI * HTTP/2.0\r
\r
SM\r
\r
""", (400, 505)), (get(version="HTTP/2.0"), (505,)), (get(version="HTTP/3.0"), (505,)),
    (get(version="HTTP/0.9"), (400, 505)), (get(version="HTTP/1.2"), (400, 505)), (get(version="http/1.1"), (400,)),
    (b"BREW /pot HTTP/1.1\r\nHost: localhost\r\n\r\n", (400, 404, 405, 501)),
    (b"get / HTTP/1.1\r\nHost: localhost\r\n\r\n", (400, 405, 501)),
], ids=lambda v: repr(v[:24]) if isinstance(v, bytes) else None)
def test_service_other_versions_and_methods(service, data, status):
    replies = service.raw_replies(data + CLOSE)
    assert replies[0].status in status, replies
    assert service.healthy()


def test_service_smuggled_request_is_never_run(fresh_service):
    s = fresh_service
    head, body = run_request("print('SMUGGLED')", close=False)
    for outer in (POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                  POST + b"Transfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n",
                  POST + b"Content-Length: 0\r\nContent-Length: 10\r\n\r\n"):
        s.raw(outer + head + body)
    assert s.get("/v1/runs").json["runs"] == []


# ---- floods ----


def test_service_huge_head_is_431(service):
    assert_refused(service, get("/v1/health", "X: " + "a" * 200000), 431)
    assert_refused(service, get("/v1/health?" + "q" * 200000), 414, 431)


def test_service_hundreds_of_headers_are_431(service):
    assert_refused(service, get("/v1/health", *[f"X-{i}: {i}" for i in range(200)]), 431)
    assert service.raw_replies(get("/v1/health", "Connection: close",
                                   *[f"X-{i}: {i}" for i in range(50)]))[0].status == 200


def test_service_endless_head_is_431(service):
    with service.connect(30) as s:
        s.sendall(b"GET / HTTP/1.1\r\n")
        try:
            for i in range(100000):
                s.sendall(b"X-%d: y\r\n" % i)
        except OSError:
            pass
    assert service.healthy()


def test_service_chunk_extensions_do_not_flood(service):
    head, body = run_request("print(1)", framing="Transfer-Encoding: chunked")
    replies = service.raw_replies(head + b"1;" + b"a" * (1 << 20) + b"\r\n{\r\n0\r\n\r\n")
    assert [r.status for r in replies] in ([400], [413], [431])
    data = b"".join(b"1;" + b"a" * 100 + b"\r\n \r\n" for _ in range(2000)) + chunked(body)
    reply = service.raw_replies(head + data)[0]
    assert reply.status in (200, 400, 413, 431), reply
    assert service.healthy()


def test_service_trailers_do_not_flood(service):
    head, body = run_request("print(1)", framing="Transfer-Encoding: chunked")
    data = chunked(body)[:-2] + b"".join(b"X-%d: y\r\n" % i for i in range(20000)) + b"\r\n"
    assert service.raw_replies(head + data)[0].status in (400, 413, 431)
    assert service.healthy()


def test_service_escaped_slash_is_part_of_a_name_only(service):
    run = service.run("open('d', 'w').write('x')", outputs=["d"])["id"]
    for path in ("/v1%2fhealth", "/v1%2Fruns", f"/v1/runs%2f{run}", f"/v1%2fruns/{run}/files/d", "/%2fv1/health"):
        reply = service.raw_replies(get(path, "Connection: close"))[0]
        assert reply.status == 404, (path, reply)
    assert service.raw_replies(get(f"/v1/runs/{run}/files/d", "Connection: close"))[0].status == 200
    reply = service.raw_replies(get(f"/v1/runs/{run}/files/a%2Fb", "Connection: close"))[0]
    assert reply.status == 404 and b"%2F" not in reply.body, reply


def test_service_more_busy_connections_than_allowed_are_503(start_service):
    s = start_service("--set", "http.max_connections=4")
    def connections():
        return s.get("/v1/stats", unix=True).json["http"]["connections"]
    assert eventually(lambda: connections() == 1)  # the one that asks: nobody must give way below
    held = []
    try:
        for i in range(4):
            head, body = run_request("import sys\nsys.stdin.read()", stdin_open=True)
            held.append(s.connect())
            held[-1].sendall(head + body)
            assert eventually(lambda: s.get("/v1/stats", unix=True).json["now"]["running"] == i + 1, 30)
        assert eventually(lambda: connections() == 5)
        with s.connect() as one_more:
            one_more.sendall(HEALTH)
            reply = split_replies(read_to_end(one_more))[0]
        assert reply.status == 503 and reply.headers["Retry-After"], reply
        assert s.get("/v1/health", unix=True).status == 200
    finally:
        for c in held:
            c.close()
    assert eventually(s.reachable)  # as soon as it has seen them go


def test_service_idle_connections_lock_nobody_out(start_service):
    """4300 clients that say nothing, or half a head: new clients and the operator are served at once."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4500:
        pytest.skip(f"at most {hard} descriptors here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    s = start_service()
    held = []
    try:
        for i in range(4300):
            held.append(s.connect())
            if i % 2:
                held[-1].sendall(b"GET /v1/health HTT")
        assert s.get("/v1/health", unix=True).status == 200
        assert s.get("/v1/health").status == 200
        assert s.run("print('served')")["stdout"] == "served\n"
        assert s.get("/v1/stats", unix=True).json["http"]["connections"] <= 4096 + 64
    finally:
        for c in held:
            c.close()


# ---- slow clients ----


@pytest.fixture(scope="module")
def impatient():
    from service import Service

    with Service(*[a for k in ("head", "body", "idle") for a in ("--set", f"http.{k}_timeout=1s")]) as s:
        yield s


def test_service_slow_head_is_408(impatient):
    start = time.monotonic()
    with impatient.connect(20) as s:
        s.sendall(b"GET /v1/health HTTP/1.1\r\n")
        replies = split_replies(read_to_end(s))
    assert [r.status for r in replies] == [408] and 0.9 < since(start) < 5 * PATIENCE


def test_service_dripping_head_is_408(impatient):
    """A byte now and then does not win time."""
    start = time.monotonic()
    with impatient.connect(20) as s:
        try:
            for byte in b"GET /v1/health HTTP/1.1\r\n" + b"X-Slow: " + b"a" * 1000:
                s.sendall(bytes([byte]))
                time.sleep(0.05)
        except OSError:
            pass
        assert 0.9 < since(start) < 10 * PATIENCE
    assert impatient.healthy()


def test_service_slow_body_is_408(impatient):
    head, body = run_request("print(1)")
    start = time.monotonic()
    with impatient.connect(20) as s:
        s.sendall(head + body[:5])
        assert [r.status for r in split_replies(read_to_end(s))] == [408]
    assert 0.9 < since(start) < 10 * PATIENCE


def test_service_idle_connection_is_closed(impatient):
    start = time.monotonic()
    with impatient.connect(20) as s:
        s.sendall(HEALTH)
        reply, rest = read_one(s)
        assert reply.status == 200 and read_to_end(s) == rest == b""
    assert 0.9 < since(start) < 5 * PATIENCE
    with impatient.connect(20) as s:  # one that never says anything
        answer = read_to_end(s)
        assert answer == b"" or split_replies(answer)[0].status == 408


def test_service_long_run_is_no_idle_connection(impatient):
    assert impatient.run("import time\ntime.sleep(2.5)\nprint('done')")["stdout"] == "done\n"


def test_service_client_that_does_not_read_is_let_go(start_service):
    """http.write_timeout: a client that takes nothing holds neither memory nor a connection for ever."""
    s = start_service("--set", "http.write_timeout=1s")
    run_id = s.run("print('x' * (12 << 20))")["id"]
    with s.connect(20) as c:
        c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        c.sendall(get(f"/v1/runs/{run_id}/stdout"))
        value = lambda name: f"belljar_http_{name} 1" in s.get("/metrics").body.decode().splitlines()
        assert eventually(lambda: value("connections") and value("timed_out_total")), s.get("/metrics").body
