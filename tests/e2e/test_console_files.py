"""The files of the console over HTTP: addresses, policies, caching, and access without a key (R8.3)."""

import gzip
import re

import pytest

PAGE_POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
               "font-src 'self'; worker-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
               "frame-ancestors 'none'; require-trusted-types-for 'script'")
BROWSER = {"Accept": "text/html,application/xhtml+xml", "Accept-Encoding": "gzip, deflate, br"}


def names(page):
    return re.findall(r'/console/(a/[A-Za-z0-9_-]+\.(?:js|css))', page.body.decode())


def test_console_is_where_a_browser_looks(service):
    reply = service.get("/", headers=BROWSER)
    assert (reply.status, reply.headers["Location"], reply.headers["Vary"]) == (302, "/console/", "Accept"), reply
    assert service.get("/").json == {"status": "ok"}  # the NeMo toolkit asks without text/html
    reply = service.get("/console", headers=BROWSER)
    assert (reply.status, reply.headers["Location"]) == (302, "/console/")


def test_console_page_has_the_strict_policy(service):
    page = service.get("/console/", headers=BROWSER)
    assert page.status == 200 and page.headers["Content-Type"] == "text/html; charset=utf-8", page
    assert page.headers["Content-Security-Policy"] == PAGE_POLICY
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    for name, value in (("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                        ("Cross-Origin-Opener-Policy", "same-origin"), ("X-DNS-Prefetch-Control", "off"),
                        ("Cache-Control", "no-cache")):
        assert page.headers.get_all(name) == [value], (name, page.headers)
    text = page.body.decode()
    assert "<script>" not in text and "style=" not in text and "http:" not in text and "https:" not in text


def test_console_frame_is_sealed(service):
    policy = service.get("/console/frame.html").headers["Content-Security-Policy"]
    parts = [part.strip() for part in policy.split(";")]
    assert parts[0] == "sandbox allow-scripts" and "default-src 'none'" in parts and "form-action 'none'" in parts
    assert "allow-same-origin" not in policy and "connect-src" not in policy and "http" not in policy


def test_console_scripts_are_kept_by_browsers(service):
    page = service.get("/console/", headers=BROWSER)
    found = names(page)
    assert any(n.endswith(".js") for n in found) and any(n.endswith(".css") for n in found)
    for name in found:
        reply = service.get(f"/console/{name}", headers=BROWSER)
        assert reply.status == 200 and reply.headers["Content-Encoding"] == "gzip", reply
        assert reply.headers.get_all("Cache-Control") == ["public, max-age=31536000, immutable"]
        assert reply.headers["Content-Security-Policy"] == PAGE_POLICY
        assert gzip.decompress(reply.body)
        again = service.get(f"/console/{name}", headers={**BROWSER, "If-None-Match": reply.headers["ETag"]})
        assert (again.status, again.body) == (304, b"")


def test_console_page_is_compared_by_its_etag(service):
    page = service.get("/console/", headers=BROWSER)
    again = service.get("/console/", headers={**BROWSER, "If-None-Match": page.headers["ETag"]})
    assert (again.status, again.body, again.headers["ETag"]) == (304, b"", page.headers["ETag"])
    assert service.get("/console/", headers={**BROWSER, "If-None-Match": '"other"'}).status == 200


def test_console_answers_head(service):
    page = service.get("/console/")
    head = service.request("HEAD", "/console/")
    assert (head.status, head.body, head.headers["Content-Length"]) == (200, b"", str(len(page.body)))


@pytest.mark.parametrize("encodings, status", [(None, 406), ("br", 406), ("gzip;q=0", 406), ("gzip;q=0.000, br", 406),
                                               ("gzip;q=0.5", 200), ("br, GZIP", 200)])
def test_console_without_gzip(service, encodings, status):
    """A script is stored as gzip alone. The page itself is readable for everybody."""
    headers = {"Accept-Encoding": encodings} if encodings else {}
    name = names(service.get("/console/", headers=headers))[0]
    assert service.get(f"/console/{name}", headers=headers).status == status


@pytest.mark.parametrize("path", ["a/main-AAAAAAAA.js", "a/", "index.html", "%2e%2e/v1/health", "a/../frame.html",
                                  "frame.html/", "a%00"])
def test_console_has_no_other_file(service, path):
    reply = service.get(f"/console/{path}", headers=BROWSER)
    assert reply.status in (400, 404), reply
    assert reply.status == 400 or b"The console has no file" in reply.body


def test_console_needs_no_key(start_service):
    s = start_service()
    s.post("/v1/keys", {"name": "first", "scopes": ["admin"]})
    assert s.get("/v1/runs").status == 401
    assert s.get("/console/", headers=BROWSER).status == 200
    assert s.request("POST", "/console/").status == 405


def test_console_can_be_linked_from_another_site(service):
    """A link to a run is followed; a script or a frame of another site gets nothing."""
    visit = {**BROWSER, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert service.get("/console/", headers=visit).status == 200
    assert service.get("/", headers=visit).status == 302
    for change in ({"Sec-Fetch-Dest": "iframe"}, {"Sec-Fetch-Mode": "no-cors"}, {"Origin": "https://evil.example"}):
        assert service.get("/console/", headers={**visit, **change}).status == 403, change
    assert service.get("/v1/runs", headers=visit).status == 403
    assert service.get(f"/console/{names(service.get('/console/'))[0]}", headers=visit).status == 403


def test_console_files_are_small(service):
    """At most 220 KB for the first visit, and 700 KB in the program."""
    page = service.get("/console/", headers=BROWSER)
    first = len(page.body) + sum(len(service.get(f"/console/{n}", headers=BROWSER).body) for n in set(names(page)))
    assert first < 200_000, first


def test_request_of_a_run_can_be_read_again(service):
    """GET /v1/runs/{id}/request: the program and everything that it was given."""
    body = {"language": "python", "code": "print(open('a').read())", "files": {"a": "1"}, "args": ["x"],
            "limits": {"wall_ms": 5000}}
    run_id = service.post("/v1/runs", body).json["id"]
    reply = service.get(f"/v1/runs/{run_id}/request")
    assert reply.status == 200 and reply.json == {"id": run_id, "language": "python", "code": body["code"],
                                                  "request": body}
    assert service.get("/v1/runs/run_missing/request").status == 404


def test_request_of_a_run_belongs_to_its_key(start_service):
    s = start_service()
    admin = s.post("/v1/keys", {"name": "a", "scopes": ["admin"]}).json["key"]

    def key(name, *scopes):
        made = s.post("/v1/keys", {"name": name, "scopes": list(scopes)}, headers={"X-API-Key": admin}).json["key"]
        return {"X-API-Key": made}

    mine, other, reader = key("mine", "run"), key("other", "run"), key("reader", "read")
    run_id = s.post("/v1/runs", {"language": "python", "code": "pass"}, headers=mine).json["id"]
    assert s.get(f"/v1/runs/{run_id}/request", headers=mine).status == 200
    assert s.get(f"/v1/runs/{run_id}/request", headers=reader).status == 200
    assert s.get(f"/v1/runs/{run_id}/request", headers=other).status == 404
    assert s.get(f"/v1/runs/{run_id}/request").status == 401
