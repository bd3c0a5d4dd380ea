"""API keys: their scopes, the stored form, and callers that need none. A public address without a key is refused."""

import re
import subprocess

import pytest

from harness import ROOT, eventually
from service import ROOMY, Service, sleeper

PROGRAM = {"language": "python", "code": "print('ran')"}


@pytest.fixture(scope="module")
def keyed():
    with Service(*ROOMY) as s:
        s.keys = {name: s.add_key(name, scopes) for name, scopes in
                  (("runner", "run"), ("reader", "read"), ("approver", "approve"), ("boss", "admin"),
                   ("both", "run,read"))}
        assert eventually(lambda: s.post("/v1/runs", PROGRAM, key=s.keys["boss"]).status == 200
                          and s.get("/v1/runs").status == 401)
        yield s


CALLS = {
    "run": ("POST", "/v1/runs", PROGRAM), "list": ("GET", "/v1/runs", None), "stats": ("GET", "/v1/stats", None),
    "keys": ("GET", "/v1/keys", None),
    "rules": ("POST", "/v1/rules", {"action": "deny", "match": "contains", "text": "never seen"}),
    "batch": ("POST", "/v1/batches", {"runs": [PROGRAM]}), "languages": ("GET", "/v1/languages", None),
    "approvals": ("GET", "/v1/approvals", None), "metrics": ("GET", "/metrics", None),
    "execute": ("POST", "/execute", {"generated_code": "print(1)", "timeout": 5, "language": "python"}),
    "artifact": ("POST", "/api/artifacts/create", {"content": "x", "title": "t", "language": "python"}),
}
ALLOWED = {
    "runner": {"run", "batch", "execute", "artifact", "list", "languages"},
    "reader": {"list", "stats", "languages", "approvals", "metrics"},
    "approver": {"rules", "list", "languages"}, "boss": set(CALLS),
    "both": {"run", "batch", "execute", "artifact", "list", "stats", "languages", "approvals", "metrics"},
}


@pytest.mark.parametrize("name", ALLOWED)
def test_service_key_may_do_what_its_scopes_say(keyed, name):
    for call, (method, path, body) in CALLS.items():
        reply = keyed.request(method, path, body, key=keyed.keys[name])
        if call in ALLOWED[name]:
            assert reply.status in (200, 201), (call, reply)
        else:
            assert reply.status == 403 and b"scope" in reply.body and name.encode() in reply.body, (call, reply)


@pytest.mark.parametrize("headers", [
    {}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer "}, {"Authorization": "Basic eDp5"},
    {"X-API-Key": "wrong"},
    {"Authorization": "Bearer blj_" + "A" * 43}, {"Authorization": "x" * 8000}, {"Authorization": ""},
], ids=lambda h: str(h)[:40])
def test_service_without_a_key_is_401(keyed, headers):
    for method, path, body in CALLS.values():
        reply = keyed.request(method, path, body, headers=headers)
        assert reply.status == 401 and b"ran" not in reply.body, (path, reply)
        assert reply.headers["WWW-Authenticate"].startswith("Bearer"), reply
    assert keyed.get("/v1/health", headers=headers).status == 200


def test_service_key_in_either_header(keyed):
    key = keyed.keys["runner"]
    for headers in ({"Authorization": f"Bearer {key}"}, {"authorization": f"bearer {key}"}, {"X-API-Key": key}):
        assert keyed.post("/v1/runs", PROGRAM, headers=headers).json["stdout"] == "ran\n"
    assert keyed.post("/v1/runs", PROGRAM, headers={"Authorization": f"Bearer {key}x"}).status == 401
    assert keyed.post("/v1/runs", PROGRAM, headers={"Authorization": f"Bearer {key[:-1]}"}).status == 401


def test_service_key_sees_its_own_runs_only(keyed):
    made = keyed.run("print('mine')", key=keyed.keys["runner"])
    other = keyed.run("print('other')", key=keyed.keys["both"])
    look = lambda run, name: keyed.get(f"/v1/runs/{run['id']}", key=keyed.keys[name]).status
    assert (look(made, "runner"), look(other, "runner")) == (200, 404)
    assert (look(made, "both"), look(made, "reader"), look(made, "boss")) == (200, 200, 200)
    for tail in ("/stdout", "/events", "/files"):
        assert keyed.get(f"/v1/runs/{other['id']}{tail}", key=keyed.keys["runner"]).status == 404
    assert keyed.delete(f"/v1/runs/{other['id']}", key=keyed.keys["runner"]).status == 404
    rows = keyed.get("/v1/runs", {"key": "runner"}, key=keyed.keys["reader"]).json["runs"]
    assert {r["key"] for r in rows} == {"runner"} and made["id"] in [r["id"] for r in rows]


def test_service_key_cannot_cancel_the_runs_of_another(keyed):
    started = keyed.run(sleeper(60), key=keyed.keys["both"], wait=False, status=202)
    assert keyed.delete(f"/v1/runs/{started['id']}", key=keyed.keys["runner"]).status == 404
    assert keyed.delete(f"/v1/runs/{started['id']}", key=keyed.keys["both"]).status == 202


def test_service_all_runs_of_a_key_are_cancelled_and_no_others(keyed):
    start = lambda name: keyed.run(sleeper(60), key=keyed.keys[name], wait=False, status=202)["id"]
    verdict = lambda run: keyed.get(f"/v1/runs/{run}", key=keyed.keys["boss"]).json["verdict"]
    cancel = lambda query, name: keyed.request("DELETE", "/v1/runs" + query, key=keyed.keys[name])
    mine, others = [start("runner"), start("runner")], [start("both"), start("boss")]
    assert cancel("?key=both", "runner").status == 403 and cancel("?key=*", "both").status == 403
    reply = cancel("", "runner")
    assert (reply.status, reply.json) == (202, {"cancelled": 2}), reply
    assert eventually(lambda: [verdict(run) for run in mine] == ["cancelled"] * 2)
    assert [verdict(run) for run in others] == [None, None]
    assert cancel("?key=both", "boss").json == {"cancelled": 1}
    assert cancel("?key=nobody", "boss").json == {"cancelled": 0}
    assert eventually(lambda: verdict(others[0]) == "cancelled") and verdict(others[1]) is None
    assert cancel("?key=*", "boss").json["cancelled"] >= 1
    assert eventually(lambda: verdict(others[1]) == "cancelled")
    assert cancel("", "reader").status == 403


def test_service_unix_socket_needs_no_key(keyed):
    assert keyed.run("print('unix')", unix=True)["stdout"] == "unix\n"
    assert keyed.get("/v1/keys", unix=True).status == 200


def test_service_unix_socket_is_its_owners_alone(keyed):
    assert keyed.socket_path.stat().st_mode & 0o777 == 0o600
    assert keyed.data.stat().st_mode & 0o777 == 0o700


def test_service_key_is_nowhere_but_as_a_hash(keyed):
    """Neither database nor log know it."""
    for key in keyed.keys.values():
        assert re.fullmatch(r"blj_[A-Za-z0-9_-]{43}", key)
        for path in (*keyed.data.rglob("*"), keyed.log_path):
            assert not path.is_file() or key.encode() not in path.read_bytes(), path


def test_service_keys_are_listed_without_their_text(keyed):
    reply = keyed.get("/v1/keys", key=keyed.keys["boss"])
    rows = {k["name"]: k for k in reply.json["keys"]}
    assert set(rows) >= set(keyed.keys) and rows["both"]["scopes"] == ["run", "read"] and b"blj_" not in reply.body
    listed = keyed.cli("keys", "list")
    assert listed.status == 0 and b"runner" in listed.out and b"blj_" not in listed.out


def test_service_key_made_over_http_is_shown_once(keyed):
    boss = keyed.keys["boss"]
    reply = keyed.post("/v1/keys", {"name": "made", "scopes": ["run"], "max_runs": 3}, key=boss)
    assert reply.status == 201 and (reply.json["name"], reply.json["scopes"],
                                    reply.json["max_runs"]) == ("made", ["run"], 3), reply
    key = reply.json["key"]
    assert keyed.post("/v1/runs", PROGRAM, key=key).status == 200
    again = keyed.post("/v1/keys", {"name": "made", "scopes": ["run"]}, key=boss)
    assert (again.status, again.error["code"], again.error["field"]) == (409, "conflict", "name")
    assert keyed.delete("/v1/keys/made", key=boss).status == 200
    assert keyed.post("/v1/runs", PROGRAM, key=key).status == 401
    assert keyed.delete("/v1/keys/made", key=boss).status == 404


@pytest.mark.parametrize("body, field", [
    ({}, None), ({"name": "x"}, "scopes"), ({"name": "x", "scopes": []}, "scopes"),
    ({"name": "x", "scopes": ["fly"]}, "scopes[0]"),
    ({"name": "", "scopes": ["run"]}, "name"), ({"name": "a b", "scopes": ["run"]}, "name"),
    ({"name": "a\nb", "scopes": ["run"]}, "name"),
    ({"name": "x" * 65, "scopes": ["run"]}, "name"), ({"name": "../x", "scopes": ["run"]}, "name"),
    ({"name": "x", "scopes": ["run"], "max_runs": -1}, "max_runs"),
])
def test_service_bad_keys_are_refused(keyed, body, field):
    reply = keyed.post("/v1/keys", body, key=keyed.keys["boss"])
    assert reply.status == 400 and (field is None or reply.error["field"] == field), reply


def test_service_never_opens_again_after_its_first_key(start_service):
    s = start_service()
    assert s.get("/v1/runs").status == 200
    s.add_key("only", "admin")
    assert eventually(lambda: s.get("/v1/runs").status == 401)
    assert s.cli("keys", "remove", "only").status == 0
    for _ in range(2):
        assert eventually(lambda: "there is none" in s.get("/v1/runs").json["error"]["message"])
        reply = s.post("/v1/runs", PROGRAM)
        assert reply.status == 401 and "belljar keys add" in reply.error["message"], reply
        assert s.run("print('operator')", unix=True)["stdout"] == "operator\n"
        s.restart()
    key = s.add_key("next", "run")
    assert eventually(lambda: s.post("/v1/runs", PROGRAM, key=key).status == 200)


def test_service_removed_key_is_refused(fresh_service):
    s = fresh_service
    key, stays = s.add_key("goes"), s.add_key("stays", "admin")
    assert eventually(lambda: s.get("/v1/runs", key=key).status == 200)
    assert s.cli("keys", "remove", "goes").status == 0
    assert eventually(lambda: s.get("/v1/runs", key=key).status == 401)
    assert s.get("/v1/runs", key=stays).status == 200
    audit = s.cli("audit", "show").out.decode()
    assert "key.added" in audit and "key.removed" in audit and "blj_" not in audit


def test_service_keys_survive_a_restart(fresh_service):
    s = fresh_service
    key = s.add_key("kept", "run")
    s.restart()
    assert s.post("/v1/runs", PROGRAM, key=key).status == 200 and s.post("/v1/runs", PROGRAM).status == 401


def test_service_public_address_without_keys_is_refused():
    """It would be everybody's."""
    s = Service(listen=("0.0.0.0:0",))
    try:
        s.start(wait=False)
        status = s.popen.wait(30)
        assert status not in (0, None) and s.ready_line() is None
        assert "0.0.0.0" in s.log() and "keys add" in s.log(), s.log()
    except subprocess.TimeoutExpired:
        raise AssertionError("it listens on a public address without a key") from None
    finally:
        s.end()


def test_service_first_key_can_be_made_before_the_first_start():
    s = Service(*ROOMY, listen=("0.0.0.0:0",))
    key = s.add_key("first", "run")
    with s:
        assert s.post("/v1/runs", PROGRAM).status == 401
        assert s.post("/v1/runs", PROGRAM, key=key).json["stdout"] == "ran\n"
        assert s.post("/v1/runs", PROGRAM, key=key, headers={"Host": "evil.example"}).status == 403


def test_service_keeper_has_no_privileges(service, as_root):
    """The process that speaks HTTP is nobody's."""
    with open(f"/proc/{service.half('keeper').pid}/status") as f:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
    uid, caps, nnp = status["Uid"].split()[0], status["CapEff"], status["NoNewPrivs"]
    assert ROOT and uid != "0" and int(caps, 16) == 0 and nnp == "1", status
