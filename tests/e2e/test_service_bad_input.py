"""Nonsense over HTTP is a 4xx that names the field, the value and the accepted values, and never a 500 (R3.1, R2.6)."""

import json

import pytest

CODE = "print('STARTED')"


def refused(service, body, status=400, path="/v1/runs", **how):
    """The error of a request that must be refused; the service is well afterwards."""
    reply = service.post(path, body, **how)
    assert reply.status == status, reply
    error = reply.error
    assert 10 < len(error["message"]) <= 400 and "\n" not in error["message"] and b"STARTED" not in reply.body, reply
    assert service.healthy()
    return error


def says(error, field, *words):
    assert error["field"] == field, error
    for word in words:
        assert word.lower() in error["message"].lower(), (word, error)


# ---- limits ----

NONSENSE = [0, -1, 1.5, 1e308, -1e308, 10**18, 2**63 - 1, "abc", "", "NaN", "inf", "-1", "0", "1e308", " 8", "8 ",
            "0x40",
            "9" * 30, "8\u0000", "٣", True, False, [], {}, [1], {"a": 1}]
LIMITS = {
    "wall_ms": ["5x", "0ms", "0s", "25h", "10m", "1:30", 300001], "cpu_ms": ["5x", "0ms", "25h", 300001],
    "memory": ["64q", "7m", "2t", "3g", 8388607], "pids": ["1.5", "64k", 513, 4097], "cpu_percent": ["50%", 401, 6401],
    "output": ["65m", "100t", "0k"], "disk": ["63k", "2g", 65535], "files": [15, 100001, "1k"],
    "open_files": [7, 4097, "65537"], "memory_swap": [1, "1m", "64q"], "cpu_shares": [1, 1025, "1k"],
}


@pytest.mark.parametrize("key", LIMITS)
def test_service_nonsense_as_a_limit(service, key):
    """R3.1: never "no limit", and never more than the configured maximum"""
    for value in NONSENSE + LIMITS[key]:
        if key == "memory_swap" and value in (0, "0") and value is not False:
            continue  # no swap
        error = refused(service, {"language": "python", "code": CODE, "limits": {key: value}})
        says(error, f"limits.{key}", f"limits.{key}")
        assert "accepted" in error["message"] or "must be" in error["message"], (value, error)


def test_service_null_limit_is_the_default(service):
    r = service.run("print(1)", limits={"memory": None, "wall_ms": None})
    assert (r["limits"]["memory"], r["limits"]["wall_ms"]) == (256 << 20, 10000)


@pytest.mark.parametrize("body", [b'{"code":"1","language":"python","limits":{"memory":NaN}}',
                                  b'{"code":"1","language":"python","limits":{"memory":Infinity}}',
                                  b'{"code":"1","language":"python","limits":{"memory":1e999}}',
                                  b'{"code":"1","language":"python","limits":{"memory":99999999999999999999999}}',
                                  b'{"code":"1","language":"python","limits":{"memory":0x40}}'], ids=repr)
def test_service_numbers_that_are_no_json(service, body):
    refused(service, body)


@pytest.mark.parametrize("key, near",
                         [("memroy", "memory"), ("wall", "wall_ms"), ("pid", "pids"), ("zzzzzzzz", "memory")])
def test_service_unknown_limit(service, key, near):
    says(refused(service, {"language": "python", "code": CODE, "limits": {key: 1}}), f"limits.{key}", key, near)


# ---- fields ----

P = {"language": "python", "code": CODE}
FIELDS = [
    # body, field, words
    ({}, "code", ["code", "files"]),
    ({"language": "python"}, "code", ["code", "files"]),
    ({"language": "cobol", "code": "x"}, "language", ["Language 'cobol' is not supported", "python", "bash"]),
    ({"language": "", "code": "x"}, "language", ["empty"]),
    ({"language": "x" * 65, "code": "x"}, "language", ["64"]),
    ({"language": "py\u0000thon", "code": "x"}, "language", ["NUL"]),
    ({"language": "python", "code": ""}, "code", ["empty"]),
    ({**P, "entry": "main.py"}, "entry", ["code", "entry"]),
    ({"files": {"a.py": "1", "b.py": "2"}}, "entry", ["2 files"]),
    ({"files": {"a.py": "1"}, "entry": "b.py"}, "entry", ["b.py"]),
    ({"files": {"a.py": ""}, "entry": "a.py"}, "entry", ["empty"]),
    ({"files": {}, "entry": "a.py"}, "code", ["files"]),
    ({"files": {"a.xyz": "???"}, "entry": "a.xyz"}, "language", ["language"]),
    ({**P, "langauge": "python"}, "langauge", ["langauge", "language"]),
    ({**P, "timeout": 5}, "timeout", ["timeout"]),
    ({**P, "": 1}, None, []),
    ({**P, "outputs": ["../x"]}, "outputs", ["name"]),
    ({**P, "check_types": True}, "check_types", ["typescript", "python", "leave it out"]),
    ({**P, "compiler_args": ["-O2"]}, "compiler_args", ["cpp", "python", "leave it out"]),
    ({**P, "format": "csv"}, "format", ["sqlite, postgres", "python", "leave it out"]),
    ({**P, "outputs": ["/etc/passwd"]}, "outputs", ["name"]),
    ({**P, "outputs": [""]}, "outputs", ["name"]),
    ({**P, "env": {"A B": "x"}}, "env", ["NAME"]),
    ({**P, "env": {"1A": "x"}}, "env", ["NAME"]),
    ({**P, "env": {"": "x"}}, "env", ["NAME"]),
    ({**P, "env": {"A=B": "x"}}, None, []),
    ({**P, "env": {"A": "x\u0000y"}}, None, ["NUL"]),
    ({**P, "args": ["a\u0000b"]}, None, ["NUL"]),
    ({**P, "thread_id": ""}, "thread_id", ["empty"]),
    ({**P, "thread_id": "x" * 201}, "thread_id", ["200"]),
    ({**P, "permission_mode": "yolo"}, "permission_mode", ["yolo", "bypassPermissions"]),
    ({**P, "stdin": "!!", "stdin_encoding": "base64"}, "stdin", ["base64"]),
    ({**P, "stdin": "x", "stdin_encoding": "rot13"}, "stdin_encoding", ["rot13", "base64"]),
]


@pytest.mark.parametrize("body, field, words", FIELDS, ids=lambda v: str(v)[:40] if isinstance(v, dict) else None)
def test_service_bad_field(service, body, field, words):
    error = refused(service, body)
    if field:
        assert error["field"] == field, error
    for word in words:
        assert word.lower() in error["message"].lower(), (word, error)


TYPES = {
    "language": [1, True, [], {}], "code": [1, True, [], {}], "files": [1, "x", True], "entry": [1, [], {}],
    "stdin": [1, [], {}, True], "stdin_open": [1, "true", []], "args": ["x", {}, 1, [1], [None], [["x"]]],
    "env": ["x", [], 1, {"A": 1}, {"A": None}, {"A": ["x"]}], "limits": ["x", [], 1], "read_only": [0, "no", []],
    "outputs": ["x", {}, [1], [None]], "wait": ["x", 1, {}], "stream": ["x", 0], "cancel_on_disconnect": ["x", 2],
    "thread_id": [1, [], {}], "permission_mode": [1, []], "stdin_encoding": [1],
}


@pytest.mark.parametrize("field", TYPES)
def test_service_wrong_types(service, field):
    for value in TYPES[field]:
        body = {**P, field: value}
        if field == "entry":
            body = {"files": {"a.py": CODE}, "entry": value}
        error = refused(service, body)
        assert error["field"].startswith(field), (value, error)
        assert "must be" in error["message"], (value, error)


# ---- files ----

NAMES = ["..", "../x", "a/../../x", "a/../b", "/etc/x", "", ".", "a//b", "a/", "./a", "x" * 256, "a/" * 3000 + "b",
         "a/./b"]


@pytest.mark.parametrize("name", NAMES, ids=lambda n: n[:12] or "empty")
def test_service_bad_file_name(service, name):
    for files in ({name: "x"}, [{"name": name, "content": "x"}]):
        error = refused(service, {**P, "files": files})
        assert error["field"].startswith("files") and "name" in error["message"], error


@pytest.mark.parametrize("name", ["a\u0000b", "new\nline", "bell\x07", "esc\x1b[31m"], ids=repr)
def test_service_bad_characters_in_a_file_name(service, name):
    reply = service.post("/v1/runs", {**P, "files": [{"name": name, "content": "x"}]})
    assert reply.status == 400 or (reply.status == 200 and "\0" not in name), reply
    if reply.status == 400:
        assert reply.error["field"].startswith("files")
        assert not set(reply.error["message"]) & {chr(c) for c in range(32)}
    assert service.healthy()


@pytest.mark.parametrize("files, words", [
    ([{"name": "x", "content": "1"}, {"name": "x", "content": "2"}], ["'x'"]),
    ({"main.py": "1"}, ["main.py"]),
    ({"a": "1", "a/b": "2"}, ["a/b", "clash"]),
    ({"a-b": "1", "a": "1", "a/b": "2"}, ["a/b", "clash"]),
    ({"x": {"content": "!", "encoding": "base64"}}, ["base64"]),
    ({"x": {"content": "QQ", "encoding": "base64"}}, ["base64"]),
    ({"x": {"content": "x", "encoding": "latin-1"}}, ["latin-1"]),
    ({"x": {"encoding": "utf-8"}}, ["content"]),
    ({"x": {"content": "x", "mood": "good"}}, ["mood"]),
    ({"x": 1}, ["must be"]), ({"x": None}, []), ([1], ["must be"]), ([{"name": "x"}], ["content"]),
    ([{"content": "x"}], ["name"]), ([{"name": 1, "content": "x"}], ["must be"]),
], ids=lambda v: str(v)[:40] if not isinstance(v, list) or v and isinstance(v[0], dict) else None)
def test_service_bad_files(service, files, words):
    error = refused(service, {**P, "files": files})
    assert error["field"].startswith("files"), error
    for word in words:
        assert word.lower() in error["message"].lower(), (word, error)


def test_service_ten_thousand_files_and_one(service):
    error = refused(service, {**P, "files": {f"f{i}": "" for i in range(10001)}, "limits": {"files": 100000}})
    assert error["field"].startswith("files"), error


def test_service_files_that_do_not_fit_the_limits(service):
    error = refused(service, {**P, "files": {"x": "y" * 100000}, "limits": {"disk": "64k"}})
    says(error, "files", "100", "limits.disk")


def test_service_file_that_is_too_large(service):
    reply = service.post("/v1/runs", {**P, "files": {"x": "y" * ((16 << 20) + 1)}})
    assert reply.status in (400, 413), reply
    assert "16777216" in reply.error["message"]


def test_service_two_megabytes_of_arguments(service):
    error = refused(service, {**P, "args": ["x" * 100000] * 20}, status=413)
    says(error, "args", "61440")
    error = refused(service, {**P, "env": {f"E{i}": "x" * 100000 for i in range(20)}}, status=413)
    assert "61440" in error["message"], error


def test_service_hundred_thousand_arguments(service):
    assert "args" in refused(service, {**P, "args": ["a"] * 100000})["field"]


def test_service_an_entry_that_is_no_file_names_a_file(service):
    error = refused(service, {"language": "python", "files": {"a.py": "1", "b.py": "2"}, "entry": "c.py"})
    says(error, "entry", "'c.py'", "2 files", "'a.py'")


def test_service_a_run_that_is_over_says_so_by_name(service):
    run = service.run("print(1)")
    reply = service.delete(f"/v1/runs/{run['id']}")
    assert reply.status == 409, reply
    for word in (run["id"], "is over (ok)", "GET /v1/runs/{id}"):
        assert word in reply.error["message"], reply


@pytest.mark.parametrize("query, words", [
    ("limit=1&limit=2", ["'limit'", "give it once"]), ("q=%ff", ["'q'", "UTF-8", "percent-encoded"]),
    ("x" * 500 + "=1", ["500 bytes", "/openapi.json"]),
])
def test_service_errors_of_a_query_name_the_next_step(service, query, words):
    reply = service.get("/v1/runs?" + query)
    assert reply.status == 400, reply
    for word in words:
        assert word in reply.error["message"], (word, reply)


# ---- JSON ----


@pytest.mark.parametrize("body, words", [
    (b"", ["body"]), (b"   \n", ["empty"]), (b"{", ["line 1"]), (b"[]", ["object"]), (b"null", ["object"]),
    (b"1", ["object"]),
    (b'"x"', ["object"]), (b"{}x", ["line 1"]), (b"{} {}", ["line 1"]), (b'{"code":"1",}', ["line 1"]),
    (b"{'code':'1'}", ["line 1"]),
    (b'{"code":"1","code":"2"}', ["'code' is given twice"]), (b'{"code":"\xff"}', []), (b'{"code":"\xc0\x80"}', []),
    (b'{"code":"\xed\xa0\x80"}', []), (b'{"code":"\\ud800"}', []), (b'{"code":"a\nb"}', []), (b'\xef\xbb\xbf{}', []),
    (b'{"code":"\\x"}', []), (b"// hi\n{}", []), (b"\0", []), (b'{"metadata":' + b"[" * 100000, ["deep"]),
    (b'{"metadata":' + b'{"a":' * 100000, ["deep"]), (b"[" * 100000 + b"]" * 100000, ["deep"]),
    (b'{"metadata":' + b"[" * 1000 + b"]" * 1000 + b"}", ["deep"]),
], ids=lambda v: repr(v[:24]) if isinstance(v, bytes) else None)
def test_service_bad_json(service, body, words):
    error = refused(service, body)
    for word in words:
        assert word.lower() in error["message"].lower(), (word, error)
    assert error["message"].isprintable()


def test_service_json_may_be_pretty(service):
    body = json.dumps(P, indent=4).encode() + b"\r\n\t "
    assert service.post("/v1/runs", body).json["stdout"] == "STARTED\n"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                                  "application/jsonp", "json", "application/json+x", ""])
def test_service_other_content_types_are_415(service, kind):
    reply = service.post("/v1/runs", P, headers={"Content-Type": kind})
    assert reply.status == 415 and "application/json" in reply.error["message"], reply
    assert b"STARTED" not in reply.body


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON", "application/json; charset=utf-8"])
def test_service_json_content_types(service, kind):
    assert service.post("/v1/runs", P, headers={"Content-Type": kind}).status == 200


def test_service_body_larger_than_the_setting_is_413(start_service):
    s = start_service("--set", "http.max_body=64k")
    reply = s.post("/v1/runs", {**P, "stdin": "x" * 70000})
    assert (reply.status, reply.error["code"]) == (413, "too_large"), reply
    assert "http.max_body" in reply.error["message"], reply
    assert s.run("print(1)", stdin="x" * 60000)["stdout"] == "1\n"
    text = b"""\
POST /v1/runs HTTP/1.1\r
Host: localhost\r
Content-Type: application/json\r
Transfer-Encoding: chunked\r
\r
"""
    replies = s.raw_replies(text + b"8000\r\n" + b" " * 0x8000 + b"\r\n8001\r\n" + b" " * 0x8001 + b"\r\n0\r\n\r\n")
    assert [r.status for r in replies] == [413]
    reply = s.raw_replies(b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          b"Content-Length: 99999999999\r\n\r\n")[0]
    assert reply.status == 413


@pytest.mark.parametrize("field, more", [
    ("compiler_args", {"compiler_args": ["-D" + "X" * 70000]}),
    ("files", {"files": [{"name": f"{i}{'x' * 200}.c", "content": ""} for i in range(400)]}),
    ("files", {"files": [{"name": f"{i}.c", "content": ""} for i in range(4500)]}),
])
def test_service_more_than_a_compiler_can_be_told_is_413(service, field, more):
    """The caller's mistake, and not ours: nothing is started for it."""
    reply = service.post("/v1/runs", {"language": "c", "code": "int main(void) { }", **more})
    assert (reply.status, reply.error["code"], reply.error["field"]) == (413, "too_large", field), reply


# ---- paths and methods ----


@pytest.mark.parametrize("path", ["/nothing", "/v1", "/v1/", "/v1/run", "/v1/runs/", "/v1/../v1/health", "//v1/health",
                                  "/V1/health",
                                  "/v1/runs/x/nothing", "/v1/health/", "/%76%31/nothing", "/etc/passwd",
                                  "/..%2f..%2fetc/passwd"])
def test_service_unknown_path_is_404(service, path):
    reply = service.get(path)
    assert (reply.status, reply.error["code"]) == (404, "not_found"), reply


@pytest.mark.parametrize("method, path, allow", [
    ("PUT", "/v1/runs", {"GET", "HEAD", "POST", "DELETE"}), ("DELETE", "/v1/languages", {"GET", "HEAD"}),
    ("POST", "/v1/health", {"GET", "HEAD"}), ("PATCH", "/v1/runs/x", {"GET", "HEAD", "DELETE"}),
    ("GET", "/v1/batches", {"POST"}), ("POST", "/openapi.json", {"GET", "HEAD"}), ("GET", "/v1/runs/x/stdin", {"POST"}),
])
def test_service_wrong_method_is_405_and_says_which(service, method, path, allow):
    reply = service.request(method, path)
    assert reply.status == 405, reply
    assert {m.strip() for m in reply.headers["Allow"].split(",")} - {"OPTIONS"} == allow, reply


def test_service_has_not_run_anything_of_all_this(fresh_service):
    """Refused requests leave nothing in the history."""
    s = fresh_service
    for body, _, _ in FIELDS:
        assert s.post("/v1/runs", body).status == 400
    assert s.get("/v1/runs").json["runs"] == []
