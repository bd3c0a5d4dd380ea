"""A web page must not reach a local sandbox: DNS rebinding, cross-site requests; headers on every answer."""

import pytest

PROGRAM = {"language": "python", "code": "print('REACHED')"}
EVERY_HEADER = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
}


def ran(service, **headers):
    reply = service.post("/v1/runs", PROGRAM, headers={k.replace("_", "-"): v for k, v in headers.items()})
    assert (reply.status == 200) == (b"REACHED" in reply.body), reply
    return reply


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example",
                                  "10.0.0.1",
                                  "169.254.169.254", "0.0.0.0", "[::2]", "localhostx", "2130706433", "[::1",
                                  "127.0.0.1:x", ":80"])
def test_service_foreign_host_is_refused(service, host):
    """DNS rebinding: the name is the page's, the address ours."""
    reply = ran(service, Host=host)
    assert reply.status in (400, 403), reply
    assert reply.status == 400 or reply.error["code"] == "denied"
    for path in ("/v1/health", "/v1/runs", "/", "/openapi.json"):
        assert service.get(path, headers={"Host": host}).status in (400, 403)


def test_service_own_names_are_accepted(service):
    for host in ("localhost", "LOCALHOST", "127.0.0.1", "[::1]", f"localhost:{service.port}",
                 f"127.0.0.1:{service.port}"):
        assert ran(service, Host=host).status == 200, host


@pytest.mark.parametrize("origin", ["https://evil.example", "http://evil.example", "null",
                                    "http://localhost.evil.example", "file://",
                                    "http://localhost:1", "https://localhost", "chrome-extension://x", "",
                                    "http://127.0.0.1@evil.example"])
def test_service_foreign_origin_is_refused(service, origin):
    reply = ran(service, Origin=origin)
    assert (reply.status, reply.error["code"]) == (403, "denied"), reply
    assert "Access-Control-Allow-Origin" not in reply.headers


def test_service_own_origin_is_accepted(service):
    for name in ("localhost", "127.0.0.1"):
        host = f"{name}:{service.port}"
        assert ran(service, Origin=f"http://{host}", Host=host).status == 200
    assert ran(service, Origin="http://127.0.0.1:1", Host="127.0.0.1:2").status == 403


def test_service_cross_site_is_refused_without_an_origin(service):
    assert ran(service, Sec_Fetch_Site="cross-site").status == 403
    assert service.get("/v1/runs", headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    assert ran(service, Sec_Fetch_Site="same-origin").status == 200
    assert ran(service, Sec_Fetch_Site="none").status == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_service_takes_nothing_that_a_form_can_send(service, kind):
    """A request that a browser sends without asking first is not JSON."""
    assert ran(service, Content_Type=kind).status == 415
    reply = service.post("/execute", {"generated_code": "print('REACHED')", "timeout": 5, "language": "python"},
                         headers={"Content-Type": kind})
    assert reply.status == 400 and b"REACHED" not in reply.body


@pytest.mark.parametrize("path", ["/v1/runs", "/execute", "/api/artifacts/create", "/v1/keys"])
def test_service_preflight_is_not_granted(service, path):
    reply = service.request("OPTIONS", path, headers={
        "Origin": "https://evil.example", "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type"})
    assert reply.status == 403 and not [h for h in reply.headers if h.lower().startswith("access-control-")], reply


def test_service_origin_of_the_setting_is_granted(start_service):
    s = start_service("--set", "http.origins=https://app.example", "--set", "http.hosts=box.example")
    reply = s.request("OPTIONS", "/v1/runs",
                      headers={"Origin": "https://app.example", "Access-Control-Request-Method": "POST"})
    assert reply.status == 204 and reply.headers["Access-Control-Allow-Origin"] == "https://app.example", reply
    reply = ran(s, Origin="https://app.example")
    assert reply.status == 200 and reply.headers["Access-Control-Allow-Origin"] == "https://app.example"
    assert "Origin" in reply.headers["Vary"] and "Access-Control-Allow-Credentials" not in reply.headers
    assert ran(s, Origin="https://app.example.evil").status == 403
    assert ran(s, Host="box.example").status == 200 and ran(s, Host="box.example.evil").status == 403


@pytest.mark.parametrize("method, path, body", [
    ("GET", "/", None), ("GET", "/v1/health", None), ("GET", "/nothing", None), ("PUT", "/v1/runs", None),
    ("POST", "/v1/runs", {}),
    ("POST", "/v1/runs", PROGRAM), ("GET", "/metrics", None), ("GET", "/openapi.json", None), ("POST", "/execute", {}),
    ("GET", "/api/artifacts/none", None), ("OPTIONS", "/v1/runs", None), ("GET", "/v1/runs/none/stdout", None),
], ids=lambda v: str(v)[:24])
def test_service_headers_are_on_every_answer(service, method, path, body):
    reply = service.request(method, path, body)
    assert {k: reply.headers[k] for k in EVERY_HEADER} == EVERY_HEADER, reply


@pytest.mark.parametrize("data", [b"""\
nonsense\r
\r
""", b"""\
GET / HTTP/1.1\r
Host: evil.example\r
Connection: close\r
\r
""",
                                  b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 500 + b"\r\n"], ids=["400", "403", "431"])
def test_service_headers_are_on_refusals_of_the_server_too(service, data):
    reply = service.raw_replies(data)[0]
    assert {k: reply.headers[k] for k in EVERY_HEADER} == EVERY_HEADER, reply


def test_service_headers_are_on_streams(service):
    reply = service.post("/v1/runs", PROGRAM, headers={"Accept": "text/event-stream"})
    assert {k: reply.headers[k] for k in EVERY_HEADER} == EVERY_HEADER
    assert "no-" in reply.headers.get("Cache-Control", "no-store")


def test_service_output_is_never_a_page(service):
    """The output of a program is no HTML of our origin."""
    r = service.run("print('<script>alert(1)</script>')\nopen('x.html', 'w').write('<script>')", outputs=["x.html"])
    for path in ("stdout", "files/x.html"):
        reply = service.get(f"/v1/runs/{r['id']}/{path}")
        assert reply.headers["Content-Type"] == "application/octet-stream", reply
