"""/api/artifacts: made, read, changed, forked, deleted, found in Markdown, run (R7.1)."""

import pytest

from harness import eventually, given_time
from service import ROOMY, Service, in_threads


NOT_FOUND = {"detail": "Artifact not found", "error": "not_found", "message": "Artifact not found"}


def make(service, content="print('Hello, World!')", title="Hello", language="python", **more):
    reply = service.post("/api/artifacts/create", {"content": content, "title": title, "language": language, **more})
    assert reply.status == 201, reply
    return reply.json


def execution(service, artifact, status=200, **body):
    reply = service.post(f"/api/artifacts/{artifact['id']}/execute", body)
    assert reply.status == status, reply
    return reply.json


def test_artifact_is_made_and_read(service):
    a = make(service, conversation_id="c1")
    assert set(a) >= {"id", "conversation_id", "title", "content", "language", "artifact_type", "version",
                      "parent_artifact_id", "created_at"}
    assert (a["conversation_id"], a["title"], a["language"], a["artifact_type"],
            a["version"]) == ("c1", "Hello", "python", "code", 1)
    assert a["content"] == "print('Hello, World!')" and a["parent_artifact_id"] is None
    assert service.get(f"/api/artifacts/{a['id']}").json == a


@pytest.mark.parametrize("language, kind",
                         [("html", "html"), ("htm", "html"), ("HTML", "html"), ("svg", "svg"), ("mermaid", "mermaid"),
                                            ("latex", "latex"), ("tex", "latex"), ("python", "code"), ("cobol", "code"),
                                            ("bash", "code")])
def test_artifact_type_follows_the_language(service, language, kind):
    assert make(service, language=language)["artifact_type"] == kind


def test_artifact_update_makes_a_version(service):
    a = make(service, "one", "T")
    b = service.put(f"/api/artifacts/{a['id']}", {"content": "two"})
    assert b.status == 200 and (b.json["version"], b.json["content"], b.json["title"]) == (2, "two", "T")
    c = service.put(f"/api/artifacts/{a['id']}", {"title": "U"}).json
    assert (c["version"], c["content"], c["title"]) == (3, "two", "U")
    versions = service.get(f"/api/artifacts/{a['id']}/versions").json
    assert [(v["version"], v["content"], v["title"])
            for v in versions] == [(1, "one", "T"), (2, "two", "T"), (3, "two", "U")]
    assert service.get(f"/api/artifacts/{a['id']}").json["content"] == "two"


def test_artifact_updates_at_once_each_make_a_version(service):
    a = make(service, "0")
    in_threads([lambda i=i: service.put(f"/api/artifacts/{a['id']}", {"content": str(i)}) for i in range(10)])
    versions = service.get(f"/api/artifacts/{a['id']}/versions").json
    assert [v["version"]
            for v in versions] == list(range(1, 12)) and {v["content"] for v in versions} == {str(i) for i in range(10)}


def test_artifact_fork_is_a_copy_of_its_own(service):
    a = make(service, "one", conversation_id="c2")
    service.put(f"/api/artifacts/{a['id']}", {"content": "two"})
    reply = service.post(f"/api/artifacts/{a['id']}/fork")
    assert reply.status == 200, reply
    f = reply.json
    assert (f["parent_artifact_id"], f["version"], f["content"]) == (a["id"], 1, "two") and f["id"] != a["id"]
    service.put(f"/api/artifacts/{f['id']}", {"content": "three"})
    assert service.get(f"/api/artifacts/{a['id']}").json["content"] == "two"


def test_artifact_delete_is_final(service):
    a = make(service, conversation_id="c3")
    reply = service.delete(f"/api/artifacts/{a['id']}")
    assert (reply.status, reply.body) == (204, b"")
    for method, tail, body in (("GET", "", None), ("PUT", "", {"content": "x"}), ("DELETE", "", None),
                               ("POST", "/fork", {}),
                               ("GET", "/versions", None), ("GET", "/download", None), ("POST", "/execute", {})):
        reply = service.request(method, f"/api/artifacts/{a['id']}{tail}", body)
        assert (reply.status, reply.json) == (404, NOT_FOUND), (method, tail, reply)
    assert service.get("/api/artifacts/conversations/c3/artifacts").json == []


def test_artifacts_of_a_conversation_are_newest_first(service):
    made = [make(service, str(i), conversation_id="c4")["id"] for i in range(4)]
    make(service, conversation_id="c5")
    assert [a["id"] for a in service.get("/api/artifacts/conversations/c4/artifacts").json] == made[::-1]
    assert service.get("/api/artifacts/conversations/nobody/artifacts").json == []


@pytest.mark.parametrize("title, language, name", [
    ("Hello", "python", "Hello.py"), ("My Page", "html", "My_Page.html"), ("x", "javascript", "x.js"),
    ("x", "bash", "x.sh"),
    ("d", "mermaid", "d.mmd"), ("../../etc/passwd", "python", "etc_passwd.py"), ('a"\r\nX: y', "python", "a_X_y.py"),
    ("???", "cobol", "artifact.txt"),
])
def test_artifact_download_has_a_fitting_name(service, title, language, name):
    a = make(service, "ü content", title, language)
    reply = service.get(f"/api/artifacts/{a['id']}/download")
    assert (reply.status, reply.body.decode()) == (200, "ü content")
    assert reply.headers["Content-Disposition"] == f'attachment; filename="{name}"' and "X" not in reply.headers, reply
    assert "html" not in reply.headers["Content-Type"]


def test_artifact_download_is_json_if_json_is_asked_for(service):
    a = make(service, "ü content", "My code", "py")
    path = f"/api/artifacts/{a['id']}/download"
    reply = service.get(path, headers={"Accept": "application/json"})
    assert (reply.status, reply.json) == (200, {"filename": "My_code.py", "content": "ü content",
                                                "content_type": "text/x-python"})
    assert service.get(path, headers={"Accept": "*/*"}).body.decode() == "ü content"
    page = make(service, "<p>", "Page", "html")
    reply = service.get(f"/api/artifacts/{page['id']}/download", headers={"Accept": "application/json"})
    assert (reply.json["filename"], reply.json["content_type"]) == ("Page.html", "text/html")
    assert reply.headers["Content-Type"] == "application/json"


def test_artifacts_are_detected_in_markdown(service):
    text = ("# Sorting\n\nSome text.\n\n```python\nprint(sorted([3, 1]))\n```\n\nA picture:\n\n```svg\n<svg/>\n```\n\n"
            "```\nplain\n```\n\n~~~html\n<p>```</p>\n~~~\n")
    found = service.post("/api/artifacts/detect", {"content": text}).json
    assert [(a["language"], a["artifact_type"], a["content"].strip()) for a in found
            if a["content"].strip() != "plain"] == [
        ("python", "code", "print(sorted([3, 1]))"), ("svg", "svg", "<svg/>"), ("html", "html", "<p>```</p>")]
    assert found[0]["title"] == "Sorting" and all(set(a) == {"content", "language", "title", "artifact_type"}
                                                  for a in found)
    assert service.post("/api/artifacts/detect", {"content": "no code here"}).json == []


def test_artifact_executes(service):
    a = make(service)
    r = execution(service, a)
    assert (r["artifact_id"], r["title"], r["language"]) == (a["id"], "Hello", "python")
    e = r["execution"]
    assert (e["success"], e["output"], e["error"], e["return_code"]) == (True, "Hello, World!\n", None, 0)
    assert 0 < e["execution_time"] < 30 and e["verdict"] == "ok" and e["isolation"]["level"] and "diagnosis" in e


def test_artifact_execution_is_in_the_history(service):
    a = make(service)
    e = execution(service, a)["execution"]
    rows = service.get("/v1/runs", {"artifact": a["id"]}).json["runs"]
    assert [(r["id"], r["artifact_id"], r["surface"]) for r in rows] == [(e["id"], a["id"], "artifacts")]


def test_artifact_that_fails_is_still_200(service):
    e = execution(service, make(service, """\
print('out')
import sys
print('err', file=sys.stderr)
sys.exit(4)"""))["execution"]
    assert (e["success"], e["output"], e["error"], e["return_code"],
            e["verdict"]) == (False, "out\n", "err\n", 4, "runtime_error")


def test_artifact_stderr_is_the_error(service):
    e = execution(service, make(service, "1 / 0"))["execution"]
    assert e["success"] is False and e["return_code"] == 1 and "ZeroDivisionError" in e["error"]


def test_artifact_timeout_is_minus_one(service):
    a = make(service, "import time\nprint('a', flush=True)\ntime.sleep(60)")
    e = given_time(lambda ms: execution(service, a, timeout=ms / 1000)["execution"], 1000, spoke=lambda e: e["output"])
    assert (e["success"], e["output"], e["return_code"],
            e["verdict"]) == (False, "a\n", -1, "timeout") and e["error"], e


@pytest.mark.parametrize("code", [
    "import sys, time\nprint('words', file=sys.stderr, flush=True)\ntime.sleep(60)",
    "import time\ntime.sleep(60)",
    "while True: pass",
], ids=["stderr", "silent", "busy"])
def test_artifact_timeout_is_named_whatever_stderr_says(service, code):
    e = execution(service, make(service, code), timeout=1)["execution"]
    assert e["return_code"] == -1 and "timeout" in e["error"] and "1s" in e["error"], e


@pytest.mark.parametrize("code, error", [
    ("import os\nos.kill(os.getpid(), 11)", "Killed by signal 11 (SIGSEGV)"),
    ("import sys, os\nprint('words', file=sys.stderr, flush=True)\nos.abort()", "words\nKilled by signal 6 (SIGABRT)"),
    ("raise SystemExit(3)", "The program ended with exit code 3"),
])
def test_artifact_that_fails_in_silence_has_an_error(service, code, error):
    e = execution(service, make(service, code))["execution"]
    assert (e["success"], e["error"]) == (False, error), e


def test_artifact_execution_takes_limits_and_stdin(service, needs):
    needs("output")
    e = execution(service, make(service, "print(input())"), stdin="hello\n")["execution"]
    assert (e["output"], e["error"]) == ("hello\n", None), e
    e = execution(service, make(service, "print('x' * 5000)"), limits={"output": 1000, "wall_ms": "7s"})["execution"]
    assert (e["verdict"], e["limits"]["output"], e["limits"]["wall_ms"]) == ("output_limit", 1000, 7000), e
    assert "more output" in e["error"] or "limit" in e["error"], e


@pytest.mark.parametrize("body, word", [
    ({"stream": True}, "stream"), ({"timeout": 1, "limits": {"wall_ms": 1000}}, "timeout"),
    ({"limits": {"memroy": 1}}, "memory"), ({"limits": {"memory": "999t"}}, "memory"), ({"stdin": 5}, "stdin"),
], ids=str)
def test_artifact_execution_ignores_no_field_that_it_does_not_have(service, body, word):
    reply = execution(service, make(service), status=400, **body)
    assert word in reply["detail"], reply


def test_artifact_in_an_unsupported_language_is_minus_two(service):
    r = execution(service, make(service, "DISPLAY 'HI'.", language="cobol"))
    e = r["execution"]
    assert (e["success"], e["return_code"], e["error"]) == (False, -2, "Language 'cobol' is not supported")


@pytest.mark.parametrize("language", ["html", "svg", "mermaid", "latex"])
def test_artifact_that_is_no_code_does_not_execute(service, language):
    kind = make(service, language=language)
    assert execution(service, kind, status=400)["detail"].startswith(f"Cannot execute artifact of type '{language}'")


def test_artifact_without_a_body_executes(service):
    a = make(service)
    reply = service.request("POST", f"/api/artifacts/{a['id']}/execute")
    assert reply.status == 200 and reply.json["execution"]["output"] == "Hello, World!\n", reply


@pytest.mark.parametrize("path, body", [
    ("create", {}), ("create", {"content": "x"}), ("create", {"content": "x", "title": "t"}),
    ("create", {"content": 1, "title": "t", "language": "l"}),
    ("create", {"content": "x", "title": [], "language": "l"}),
    ("create", {"content": "x", "title": "t" * 2000, "language": "l"}),
    ("create", {"content": "x\u0000y", "title": "t", "language": "l"}), ("detect", {}), ("detect", {"content": 5}),
], ids=str)
def test_artifact_bad_requests_have_a_detail(service, path, body):
    reply = service.post(f"/api/artifacts/{path}", body)
    assert reply.status in (400, 422) and len(reply.json["detail"]) > 10, reply
    text = reply.json["detail"]
    assert reply.json == {"detail": text, "error": "bad_request", "message": text}, reply


@pytest.mark.parametrize("value", [0, -1, "x", True, 1e308, 10**9, []], ids=str)
def test_artifact_nonsense_timeout(service, value):
    detail = execution(service, make(service), status=400, timeout=value)["detail"]
    assert "timeout" in detail or "wall_ms" in detail, detail


def test_artifact_update_of_nothing(service):
    a = make(service)
    assert service.put(f"/api/artifacts/{a['id']}", {}).status == 400
    assert service.get(f"/api/artifacts/{a['id']}").json["version"] == 1


def test_artifacts_survive_a_restart(fresh_service):
    s = fresh_service
    a = make(s, conversation_id="c")
    s.put(f"/api/artifacts/{a['id']}", {"content": "print(2)"})
    s.restart()
    assert s.get(f"/api/artifacts/{a['id']}").json["version"] == 2
    assert len(s.get(f"/api/artifacts/{a['id']}/versions").json) == 2
    assert execution(s, a)["execution"]["output"] == "2\n"


# ---- artifacts belong to their key ----

ROUTES = (("GET", "", None), ("GET", "/versions", None), ("GET", "/download", None), ("POST", "/fork", {}),
          ("POST", "/execute", {}), ("PUT", "", {"content": "print('replaced')"}), ("DELETE", "", None))
BODY = {"content": "print('mine')", "title": "t", "language": "python", "conversation_id": "talk"}


@pytest.fixture(scope="module")
def keyed_service():
    with Service(*ROOMY, "--set", "artifacts.max_bytes_per_key=1m") as s:
        s.keys = {name: s.add_key(name, scopes) for name, scopes in
                  (("alice", "run"), ("bob", "run"), ("reader", "run,read"), ("boss", "admin"))}
        assert eventually(lambda: s.get("/v1/languages", key=s.keys["boss"]).status == 200)
        yield s


def made_by(s, name):
    reply = s.post("/api/artifacts/create", BODY, key=s.keys[name])
    assert reply.status == 201, reply
    return reply.json["id"]


def test_artifact_of_another_key_does_not_exist(keyed_service):
    s = keyed_service
    a = made_by(s, "alice")
    for method, tail, body in ROUTES:
        reply = s.request(method, f"/api/artifacts/{a}{tail}", body, key=s.keys["bob"])
        assert (reply.status, reply.json) == (404, NOT_FOUND), (method, tail, reply)
    assert s.get("/api/artifacts/conversations/talk/artifacts", key=s.keys["bob"]).json == []
    for method, tail, body in ROUTES:
        assert s.request(method, f"/api/artifacts/{a}{tail}", body, key=s.keys["alice"]).status < 300, (method, tail)


def test_artifact_of_another_key_can_be_read_but_not_changed_with_scope_read(keyed_service):
    s = keyed_service
    a = made_by(s, "alice")
    for method, tail, body in ROUTES:
        reply = s.request(method, f"/api/artifacts/{a}{tail}", body, key=s.keys["reader"])
        assert reply.status == 404 if method in ("PUT", "DELETE") else reply.status < 300, (method, tail, reply)
    assert s.get(f"/api/artifacts/{a}", key=s.keys["alice"]).json["version"] == 1
    assert s.delete(f"/api/artifacts/{a}", key=s.keys["boss"]).status == 204


def test_key_of_an_old_name_inherits_nothing(keyed_service):
    s = keyed_service
    old = s.add_key("carol", "run")
    assert eventually(lambda: s.get("/v1/languages", key=old).status == 200)
    a = s.post("/api/artifacts/create", BODY, key=old).json["id"]
    run = s.run("print('old')", key=old)["id"]
    assert s.get(f"/v1/runs/{run}", key=old).status == 200
    assert s.cli("keys", "remove", "carol").status == 0
    new = s.add_key("carol", "run")
    assert eventually(lambda: s.get("/v1/languages", key=new).status == 200)
    assert s.get(f"/api/artifacts/{a}", key=new).status == 404
    assert s.get(f"/v1/runs/{run}", key=new).status == 404
    assert s.get("/v1/runs", key=new).json["runs"] == []
    own = s.run("print('new')", key=new)["id"]
    assert [r["id"] for r in s.get("/v1/runs", key=new).json["runs"]] == [own]


def test_artifacts_end_at_the_quota_and_leave_room_to_others(keyed_service):
    s = keyed_service
    large = {**BODY, "content": "x" * (600 << 10)}
    first = s.post("/api/artifacts/create", large, key=s.keys["bob"])
    assert first.status == 201
    for refused in (s.post("/api/artifacts/create", large, key=s.keys["bob"]),
                    s.put(f"/api/artifacts/{first.json['id']}", {"title": "u"}, key=s.keys["bob"]),
                    s.post(f"/api/artifacts/{first.json['id']}/fork", key=s.keys["bob"])):
        assert refused.status == 507 and "of 1m" in refused.json["detail"], refused
    assert s.post("/api/artifacts/create", large, key=s.keys["reader"]).status == 201
    assert s.delete(f"/api/artifacts/{first.json['id']}", key=s.keys["bob"]).status == 204
    assert s.post("/api/artifacts/create", large, key=s.keys["bob"]).status == 201
