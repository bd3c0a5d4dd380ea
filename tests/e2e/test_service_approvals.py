"""People decide: approve, edit, reject, expire; once, for a session, by rules; the run that waits goes on (R7.2,
R7.3)."""

import base64
import os
import sqlite3
import threading
import time
from contextlib import contextmanager

import pytest

from harness import eventually
from service import ROOMY, Service, output_of

counter = iter(range(10**6))


def thread_name():
    return f"thread-{next(counter)}"


def pending(service, thread):
    """The approval that the thread waits for, as soon as it waits."""
    found = eventually(lambda: service.get("/v1/approvals",
                                           {"thread_id": thread, "decision": "pending"}).json["approvals"])
    assert found, f"{thread} waits for nothing"
    return found[0]


def ask(service, code="print('ran')", thread=None, mode="default", **fields):
    """A run that waits for approval: (run id, approval)."""
    thread = thread or thread_name()
    run = service.run(code, wait=False, status=202, thread_id=thread, permission_mode=mode, **fields)
    assert run["state"] == "waiting", run
    return run["id"], pending(service, thread)


def ask_for_a_moment(service):
    """The same of a service that asks for so short that it may be over when we look."""
    thread = thread_name()
    run = service.run("print('ran')", wait=False, status=202, thread_id=thread, permission_mode="default")
    assert run["state"] == "waiting", run
    found = eventually(lambda: service.get("/v1/approvals", {"thread_id": thread}).json["approvals"])
    assert found, f"{thread} was never asked for"
    return run["id"], found[0]


def decide(service, approval, decision, status=200, **fields):
    reply = service.post(f"/v1/approvals/{approval['id']}", {"decision": decision, **fields})
    assert reply.status == status, reply
    return reply.json


@contextmanager
def waiting_client(service, **body):
    """A client that waits for its result while the test decides."""
    answers = []
    client = threading.Thread(target=lambda: answers.append(service.post("/v1/runs", {"language": "python", **body})))
    client.start()
    try:
        yield answers
    finally:
        client.join(60)
        assert not client.is_alive()


# ---- modes ----


@pytest.mark.parametrize("mode", ["default", "manual", "acceptEdits"])
def test_approval_is_asked_by_modes_that_ask(service, mode):
    run_id, approval = ask(service, mode=mode)
    assert service.get(f"/v1/runs/{run_id}").json["state"] == "waiting"
    decide(service, approval, "approve")
    assert service.finished(run_id)["stdout"] == "ran\n"


@pytest.mark.parametrize("mode", ["plan", "bypassPermissions", "auto", None])
def test_approval_is_not_asked_by_the_others(service, mode):
    fields = {"permission_mode": mode} if mode else {}
    assert service.run("print('ran')", thread_id=thread_name(), **fields)["stdout"] == "ran\n"


def test_approval_mode_of_the_setting(start_service):
    s = start_service("--set", "approvals.mode=default")
    assert s.run("pass", wait=False, status=202)["state"] == "waiting"
    assert s.run("print(1)", permission_mode="bypassPermissions")["stdout"] == "1\n"


# ---- the request as it is shown ----


def test_approval_shows_everything_a_person_needs(service):
    thread = thread_name()
    run_id, a = ask(service, "import os\nos.remove('x')", thread, args=["a"])
    shown = service.get(f"/v1/approvals/{a['id']}").json
    assert set(shown) == set("id thread_id run_id tool input reason risks state decision created_at expires_at "
                             "decided_at decided_by "
                             "decided_reason edited_input remember diff".split())
    assert (shown["thread_id"], shown["run_id"], shown["tool"], shown["state"], shown["decision"]) == (
        thread, run_id, "execute", "pending", "pending")
    assert shown["input"]["code"] == "import os\nos.remove('x')" and shown["input"]["language"] == "python"
    assert shown["input"]["files"] == [{"name": "main.py", "size": 24}]
    assert shown["input"]["args"] == ["a"] and shown["risks"] and "default" in shown["reason"]
    assert shown["created_at"] < shown["expires_at"] and shown["decided_at"] is None and shown["diff"] is None
    decide(service, a, "reject")


# ---- decisions ----


def test_approval_approve_resumes_and_answers_the_requester(service):
    """R7.3"""
    thread = thread_name()
    with waiting_client(service, code="print('resumed')", thread_id=thread, permission_mode="default") as answers:
        a = pending(service, thread)
        assert not answers
        done = decide(service, a, "approve", reason="looks fine")
        assert (done["decision"], done["state"],
                done["decided_reason"]) == ("approve", "decided", "looks fine") and done["decided_by"]
    assert answers[0].status == 200 and answers[0].json["stdout"] == "resumed\n" and answers[0].json["verdict"] == "ok"


def test_time_in_the_queue_is_not_that_of_an_approval(service):
    run_id, approval = ask(service)
    time.sleep(1)  # this much would be too much, if it counted
    decided = time.monotonic()
    decide(service, approval, "approve")
    result = service.finished(run_id)
    assert result["timings"]["queued_ms"] <= 1000 * (time.monotonic() - decided), result


def test_approval_edit_runs_what_was_edited(service):
    thread = thread_name()
    with waiting_client(service, code="print('bad')\nprint(2)", thread_id=thread, permission_mode="default") as answers:
        a = pending(service, thread)
        done = decide(service, a, "edit", edited_input={"code": "print('good')\nprint(2)"})
        assert done["decision"] == "edit" and done["edited_input"] == {"code": "print('good')\nprint(2)"}
        assert done["diff"] == ["-print('bad')", "+print('good')", " print(2)"]
    assert answers[0].json["stdout"] == "good\n2\n"
    run_id = answers[0].json["id"]
    assert [r["id"] for r in service.get("/v1/runs", {"q": "print('good')"}).json["runs"]] == [run_id]


def test_approval_edit_as_plain_text(service):
    run_id, a = ask(service, "print('bad')")
    decide(service, a, "edit", edited_input="print('text')")
    assert service.finished(run_id)["stdout"] == "text\n"


def test_approval_reject_ends_the_run_with_the_reason(service):
    thread = thread_name()
    with waiting_client(service, code="print('no')", thread_id=thread, permission_mode="default") as answers:
        decide(service, pending(service, thread), "reject", reason="too dangerous")
    r = answers[0].json
    assert answers[0].status == 200 and (r["verdict"], r["success"], r["stdout"]) == ("rejected", False, ""), r
    assert r["error"] == "too dangerous"
    assert r["timings"]["started_at"] is None


def test_approval_stream_waits_and_goes_on(service):
    thread = thread_name()
    body = {"language": "python", "code": "print('streamed')", "thread_id": thread, "permission_mode": "default"}
    with service.events(body=body) as events:
        assert next(events)["event"] == "waiting"
        decide(service, pending(service, thread), "approve")
        rest = list(events)
    told = [e["event"] for e in rest if e["event"] != "queued"]
    assert (told[0], set(told[1:-1]), told[-1]) == ("started", {"stdout"}, "done") and output_of(rest) == b"streamed\n"


def test_approval_expires_and_means_no(start_service):
    s = start_service("--set", "approvals.timeout=1s")
    run_id, a = ask_for_a_moment(s)
    r = s.finished(run_id, 20)
    assert r["verdict"] == "rejected" and "no decision within 1s" in r["error"]
    shown = s.get(f"/v1/approvals/{a['id']}").json
    assert (shown["decision"], shown["state"]) == ("expired", "decided")
    reply = s.post(f"/v1/approvals/{a['id']}", {"decision": "approve"})
    assert reply.status == 409, reply


def test_approval_deciding_twice_is_a_conflict(service):
    run_id, a = ask(service)
    decide(service, a, "approve")
    for decision in ("approve", "reject"):
        reply = service.post(f"/v1/approvals/{a['id']}", {"decision": decision})
        assert (reply.status, reply.error["code"]) == (409, "conflict"), reply
    assert service.finished(run_id)["verdict"] == "ok"


def test_approval_two_deciding_at_once_one_wins(service):
    from service import in_threads

    run_id, a = ask(service)
    replies = in_threads([lambda d=d: service.post(f"/v1/approvals/{a['id']}", {"decision": d})
                          for d in ("approve", "reject") * 3])
    assert sorted(r.status for r in replies) == [200] + [409] * 5
    winner = next(r for r in replies if r.status == 200).json["decision"]
    assert service.finished(run_id)["verdict"] == {"approve": "ok", "reject": "rejected"}[winner]


def test_approval_of_a_cancelled_run(service):
    run_id, a = ask(service)
    assert service.delete(f"/v1/runs/{run_id}").status == 202
    assert service.finished(run_id)["verdict"] == "cancelled"
    assert service.post(f"/v1/approvals/{a['id']}", {"decision": "approve"}).status == 409


@pytest.mark.parametrize("body, field", [
    ({}, "decision"), ({"decision": "maybe"}, "decision"), ({"decision": 1}, "decision"),
    ({"decision": "edit"}, "edited_input"),
    ({"decision": "edit", "edited_input": 5}, "edited_input"),
    ({"decision": "edit", "edited_input": {"code": 5}}, "edited_input"),
    ({"decision": "edit", "edited_input": {"command": 5}}, "edited_input"),
    ({"decision": "edit", "edited_input": {"command": "a", "code": "b"}}, "edited_input"),
    ({"decision": "approve", "remember": "always"}, "remember"), ({"decision": "reject", "remember": "session"}, None),
    ({"decision": "approve", "remember": "prefix", "prefix": "other"}, None), ({"decision": "expired"}, "decision"),
    ({"decision": "edit", "edited_input": {"code": ""}}, None),
], ids=str)
def test_approval_bad_decisions_change_nothing(service, body, field):
    _, a = ask(service)
    reply = service.post(f"/v1/approvals/{a['id']}", body)
    assert reply.status == 400 and (field is None or reply.error["field"] == field), reply
    assert service.get(f"/v1/approvals/{a['id']}").json["decision"] == "pending"
    decide(service, a, "reject")


def test_approval_that_does_not_exist(service):
    assert service.get("/v1/approvals/apr_none").status == 404
    assert service.post("/v1/approvals/apr_none", {"decision": "approve"}).status == 404
    assert service.get("/v1/approvals", {"decision": "maybe"}).status == 400
    assert service.get("/v1/approvals", {"limit": "0"}).status == 400


# ---- remembering, and rules ----


def test_approval_remembered_for_the_session(service):
    thread = thread_name()
    run_id, a = ask(service, thread=thread)
    decide(service, a, "approve", remember="session")
    assert service.finished(run_id)["verdict"] == "ok"
    assert service.run("print('asks no more')", thread_id=thread,
                       permission_mode="default")["stdout"] == "asks no more\n"
    other, again = ask(service)  # another thread still asks
    decide(service, again, "reject")


def test_approval_remembered_for_a_prefix(start_service):
    """The first words of one command, and nothing that a shell would start beside it."""
    s = start_service()
    run_id, a = ask(s, "echo one two", language="bash")
    decide(s, a, "approve", remember="prefix", prefix="echo 'one'")
    assert s.finished(run_id)["stdout"] == "one two\n"
    assert s.run("echo one  \"more words\"\n", language="bash",
                 permission_mode="default")["stdout"] == "one more words\n"
    evil = ["echo one; id", "echo one & id", "echo one | sh", "echo one\nid", "echo one $(id)", "echo one `id`",
            "echo one > f", "echo one <(id)", "echo one $HOME", "echo one *", "echo one \"$(id)\"", "echo onetwo",
            "echo", "one", "A=1 echo one", "! echo one", "echo one {a,b}", "echo one ~", "echo one # x", "echo one 'x"]
    for code in evil:
        _, again = ask(s, code, language="bash")
        decide(s, again, "reject")
    plain = {"code": "echo one", "language": "bash"}
    for fields in ({"files": {"f": "x"}}, {"env": {"BASH_ENV": "/sandbox/f"}}, {"args": ["x"]}, {"stdin": "x"},
                   {"stdin_open": True}, {"read_only": False}):
        _, again = ask(s, **plain, **fields)
        decide(s, again, "reject")


def test_approval_remembered_without_a_prefix_is_exact(start_service):
    """Another file, argument, variable, input or limit is asked for again."""
    s = start_service()
    asked = {"code": None, "language": "python", "entry": "main.py",
             "files": {"main.py": "import helper", "helper.py": "print('shown')"}}
    run_id, a = ask(s, **asked)
    decide(s, a, "approve", remember="prefix")
    assert s.finished(run_id)["stdout"] == "shown\n"
    assert s.run(**asked, permission_mode="default")["stdout"] == "shown\n"
    [rule] = s.get("/v1/rules").json["rules"]
    assert (rule["match"], rule["text"], rule["void"]) == ("exact", a["input"]["digest"], None), rule
    for change in ({"files": {**asked["files"], "helper.py": "print('evil')"}},
                   {"files": {**asked["files"], "main.py": "import helper\nprint('appended')"}},
                   {"files": {**asked["files"], "json.py": "x"}}, {"args": ["x"]}, {"env": {"PYTHONPATH": "/tmp"}},
                   {"stdin": "x"}, {"stdin_open": True}, {"limits": {"wall_ms": 1234}}, {"outputs": ["x"]},
                   {"read_only": False}):
        _, again = ask(s, **{**asked, **change})
        decide(s, again, "reject")


def test_rules_that_are_remembered_hold_for_the_requester_alone(start_service):
    """Neither for another key, nor for a later key of the same name."""
    s = start_service("--set", "approvals.mode=default")
    boss, alice, bob = s.add_key("boss", "read,approve"), s.add_key("alice", "run,read"), s.add_key("bob", "run,read")

    def state(key, thread, code="print(1)"):
        body = {"language": "python", "code": code, "thread_id": thread, "wait": False}
        reply = s.post("/v1/runs", body, key=key)
        assert reply.status == 202, reply
        return reply.json["state"]

    def approve(thread, remember):
        def waiting():
            return s.request("GET", f"/v1/approvals?thread_id={thread}&decision=pending", key=boss).json["approvals"]

        for approval in eventually(waiting):
            reply = s.post(f"/v1/approvals/{approval['id']}", {"decision": "approve", "remember": remember}, key=boss)
            assert reply.status == 200, reply

    assert state(alice, "t") == "waiting"
    approve("t", "session")
    assert state(alice, "t", "print(2)") != "waiting" and state(bob, "t", "print(2)") == "waiting"
    assert state(alice, "u") == "waiting"
    approve("u", "exact")
    assert state(alice, "v") != "waiting" and state(bob, "v") == "waiting"
    assert s.cli("keys", "remove", "alice").status == 0
    again = s.add_key("alice", "run,read")
    assert state(again, "t") == "waiting" and state(again, "v") == "waiting"


def test_execute_that_waited_over_a_restart_does_not_run_without_its_files():
    """The files of the directory are shown and are gone with the service. The run is not another one then."""
    with Service(*ROOMY, "--set", "approvals.mode=default") as s:
        s.workspace.mkdir(exist_ok=True)
        (s.workspace / "helper.py").write_text("print('shown')")
        body = {"generated_code": "import helper", "timeout": 10}
        client = threading.Thread(target=lambda: s.post("/execute", body), daemon=True)
        client.start()
        [a] = eventually(lambda: s.get("/v1/approvals", {"decision": "pending"}).json["approvals"])
        assert "helper.py" in [f["name"] for f in a["input"]["files"]], a
        s.restart()
        (s.workspace / "helper.py").write_text("print('another')")
        reply = s.post(f"/v1/approvals/{a['id']}", {"decision": "approve"})
        assert reply.status == 409 and "no longer be the one that was shown" in reply.error["message"], reply
        assert s.get(f"/v1/runs/{a['run_id']}").json["state"] == "waiting"
        decide(s, a, "reject")
        assert s.finished(a["run_id"])["verdict"] == "rejected"
        client.join(30)


def test_rule_of_an_earlier_version_allows_nothing():
    """Its text was the start of any code, for every key. It is listed with the reason."""
    with Service(*ROOMY) as s:
        s.stop()
        db = sqlite3.connect(s.database)
        insert = ("INSERT INTO rules (id, action, thread, tool, language, match, text, made_by, created_ms, requester) "
                  "VALUES (?, 'allow', ?, 'execute', ?, ?, ?, 'x', 1, ?)")
        for row in (("rul_python", None, "python", "prefix", "print", None),
                    ("rul_shell", None, "bash", "prefix", "echo 1; ", None),
                    ("rul_any", None, None, "prefix", "echo", None), ("rul_part", None, None, "contains", "1", None),
                    ("rul_thread", "t", None, "any", "", "")):
            db.execute(insert, row)
        db.commit()
        db.close()
        s.start()
        rules = s.get("/v1/rules").json["rules"]
        assert len(rules) == 5 and all(r["void"] for r in rules), rules
        for code, language in (("print(1)", "python"), ("echo 1; id", "bash"), ("echo 1", "bash")):
            run = s.run(code, language=language, wait=False, status=202, thread_id="t", permission_mode="default")
            assert run["state"] == "waiting", run
    refused = [{"action": "allow", "match": "contains", "text": "x"},
               {"action": "allow", "match": "prefix", "text": "print", "language": "python"},
               {"action": "allow", "match": "prefix", "text": "echo; id", "language": "bash"}]
    with Service(*ROOMY) as s:
        for body in refused:
            reply = s.post("/v1/rules", body)
            assert reply.status == 400 and reply.error["field"] == "match", reply


def test_stdin_is_not_taken_before_the_decision(service):
    """The person who decides would not see it. Afterwards it is said that more follows."""
    run_id, a = ask(service, "cat", language="bash", stdin_open=True)
    assert a["input"]["stdin_open"] is True and [r["kind"] for r in a["risks"]] == ["more_input"], a
    reply = service.post(f"/v1/runs/{run_id}/stdin", {"data": "UNSEEN", "eof": True})
    assert reply.status == 409 and "waits for a decision" in reply.error["message"], reply
    decide(service, a, "approve", remember="exact", status=400)
    decide(service, a, "approve")
    assert eventually(lambda: service.post(f"/v1/runs/{run_id}/stdin", {"data": "later", "eof": True}).status == 202)
    assert service.finished(run_id)["stdout"] == "later"


def test_rule_that_denies_sees_stdin_that_comes_later(start_service):
    """Also a text that two writes bring together, and names of files."""
    s = start_service()
    assert s.post("/v1/rules", {"action": "deny", "match": "contains", "text": "FORBIDDEN"}).status == 201
    run_id = s.run("cat", language="bash", wait=False, status=202, stdin="FOR", stdin_open=True)["id"]
    feed = f"/v1/runs/{run_id}/stdin"
    for body in ({"data": "BIDDEN"}, {"data": "x FORBIDDEN"}, {"data": "Rk9SQklEREVO", "encoding": "base64"}):
        reply = s.post(feed, body)
        assert reply.status == 403 and "FORBIDDEN" in reply.error["message"], reply
    assert s.post(feed, {"data": "-FORBID"}).status == 202 and s.post(feed, {"data": "DEN"}).status == 403
    assert s.post(feed, {"eof": True}).status == 202
    assert s.finished(run_id)["stdout"] == "FOR-FORBID"
    assert s.run("ls", language="bash", files={"FORBIDDEN": "x"})["verdict"] == "rejected"


def test_hidden_characters_are_a_risk(service):
    """Code that a person does not see as it runs (Trojan Source)."""
    code = "x = 1\ny = '\u202e'\n"
    _, a = ask(service, code, files={"a\u200bb": "1\n2\n\u2066", "win.txt": "a\r\nb\r\n"},
               args=["ok", "\u200d", "a\u00a0\u2003\u2800\u3000b"])
    found = {(r.get("file"), r.get("where"), r["line"], r["column"], r["excerpt"])
             for r in a["risks"] if r["kind"] == "hidden_character"}
    assert found == {(None, None, 2, 6, "U+202E"), ("a\u200bb", None, 3, 1, "U+2066"),
                     ("a\u200bb", "name", 1, 2, "U+200B"), (None, "args[1]", 1, 1, "U+200D"),
                     (None, "args[2]", 1, 2, "U+00A0"), (None, "args[2]", 1, 4, "U+2003"),
                     (None, "args[2]", 1, 7, "U+2800"), (None, "args[2]", 1, 10, "U+3000")}, a["risks"]
    decide(service, a, "reject")


def test_approval_shows_every_option_of_a_run(service):
    """The list comes from the one table of options."""
    options = ["compiler_args", "compile_limits", "no_cache", "check_types", "allow_commands", "format", "profile"]
    _, a = ask(service, "console.log(1)", language="typescript", check_types=True, no_cache=True)
    assert set(options) <= set(a["input"]), a["input"]
    assert (a["input"]["check_types"], a["input"]["no_cache"], a["input"]["profile"]) == (True, True, False)
    decide(service, a, "reject")


def test_approval_shows_limits_and_what_is_fetched(service):
    _, a = ask(service, limits={"wall_ms": 1234, "memory": "99m"}, outputs=["x"],
               files=[{"name": "tool", "content": "x", "executable": True}])
    shown = a["input"]
    assert shown["limits"]["wall_ms"] == 1234 and shown["limits"]["memory"] == 99 << 20, shown
    assert shown["outputs"] == ["x"] and shown["network"] == "none" and len(shown["digest"]) == 64, shown
    assert [f.get("executable") for f in shown["files"] if f["name"] == "tool"] == [True], shown
    decide(service, a, "reject")


def test_rule_that_denies_holds_in_every_mode(start_service):
    """R7.2"""
    s = start_service()
    rule = s.post("/v1/rules", {"action": "deny", "match": "contains", "text": "FORBIDDEN"})
    assert rule.status == 201, rule
    for mode in ("default", "manual", "acceptEdits", "plan", "bypassPermissions", "auto"):
        r = s.run("print('FORBIDDEN')", permission_mode=mode)
        assert (r["verdict"], r["stdout"]) == ("rejected", "") and rule.json["id"] in r["error"], (mode, r)
    assert s.run(files={"main.py": "import x", "x.py": "print('FORBIDDEN')"}, entry="main.py")["verdict"] == "rejected"
    assert s.post("/execute", {"generated_code": "print('FORBIDDEN')", "timeout": 5}).json["process_status"] == "error"
    made = s.post("/api/artifacts/create", {"content": "print('FORBIDDEN')", "title": "t", "language": "python"}).json
    assert s.post(f"/api/artifacts/{made['id']}/execute", {}).json["execution"]["success"] is False
    batch = s.post("/v1/batches", {"runs": [{"language": "python", "code": "print('FORBIDDEN')"}]}).json
    assert batch["results"][0]["verdict"] == "rejected"
    assert s.run("print('fine')")["verdict"] == "ok"
    s.restart()
    assert s.run("print('FORBIDDEN')")["verdict"] == "rejected"
    assert s.delete(f"/v1/rules/{rule.json['id']}").status == 204
    assert s.run("print('FORBIDDEN')")["verdict"] == "ok"
    assert s.delete(f"/v1/rules/{rule.json['id']}").status == 404


def test_rule_that_denies_holds_against_what_was_edited(service):
    rule = service.post("/v1/rules", {"action": "deny", "match": "contains", "text": "EDITED_IN"}).json
    run_id, a = ask(service)
    reply = service.post(f"/v1/approvals/{a['id']}", {"decision": "edit", "edited_input": "print('EDITED_IN')"})
    assert reply.status == 403 and rule["id"] in reply.error["message"], reply
    assert service.get(f"/v1/runs/{run_id}").json["state"] == "waiting"
    service.delete(f"/v1/rules/{rule['id']}")
    decide(service, a, "reject")


def test_rule_that_denies_holds_for_a_run_that_waited_before_it(service):
    """The rule was made after the approver was asked."""
    run_id, a = ask(service, "print('LATE_RULE')")
    rule = service.post("/v1/rules", {"action": "deny", "match": "contains", "text": "LATE_RULE"}).json
    reply = service.post(f"/v1/approvals/{a['id']}", {"decision": "approve"})
    assert reply.status == 403 and rule["id"] in reply.error["message"], reply
    assert service.get(f"/v1/runs/{run_id}").json["state"] == "waiting"
    service.delete(f"/v1/rules/{rule['id']}")
    decide(service, a, "approve")
    assert service.finished(run_id)["stdout"] == "LATE_RULE\n"


def test_rules_by_language_thread_and_prefix(start_service):
    s = start_service()
    for body in ({"action": "deny", "match": "any", "language": "sh"},
                 {"action": "deny", "match": "any", "thread_id": "bad"},
                 {"action": "deny", "match": "prefix", "text": "import os"}):
        assert s.post("/v1/rules", body).status == 201
    assert s.run("echo 1", language="bash")["verdict"] == "rejected" and s.run("print(1)")["verdict"] == "ok"
    assert s.run("print(1)",
                 thread_id="bad")["verdict"] == "rejected" and s.run("print(1)", thread_id="good")["verdict"] == "ok"
    assert s.run("import os\n")["verdict"] == "rejected" and s.run("pass; import os\n")["verdict"] == "ok"
    assert len(s.get("/v1/rules").json["rules"]) == 3


@pytest.mark.parametrize("body, field", [
    ({}, "action"), ({"action": "maybe", "match": "any"}, "action"),
    ({"action": "deny", "match": "regex", "text": "x"}, "match"),
    ({"action": "deny", "match": "contains"}, "text"), ({"action": "deny", "match": "prefix", "text": ""}, "text"),
    ({"action": "deny", "match": "any", "language": "cobol"}, "language"),
    ({"action": "deny", "match": "any", "tool": "fly"}, "tool"),
])
def test_rule_nonsense_is_refused(service, body, field):
    reply = service.post("/v1/rules", body)
    assert reply.status == 400 and reply.error["field"] == field, reply


# ---- /api/agent ----


def test_agent_pending_interrupt_and_state(service):
    """compat/artifacts: every row"""
    thread = thread_name()
    assert service.get(f"/api/agent/pending-approval/{thread}").json == {"thread_id": thread, "pending": False}
    state = service.get(f"/api/agent/state/{thread}").json
    assert (state["thread_id"], state["state"]) == (thread, None) and state["message"]
    run_id, _ = ask(service, "print('agent')", thread)
    p = service.get(f"/api/agent/pending-approval/{thread}").json
    assert (p["thread_id"], p["pending"], p["tool"],
            p["input"]["code"]) == (thread, True, "execute", "print('agent')") and p["reason"]
    assert service.get(f"/api/agent/state/{thread}").json["state"]["status"] == "waiting"
    reply = service.post("/api/agent/interrupt", {"thread_id": thread, "decision": "approve"})
    assert reply.status == 200 and {k: reply.json[k] for k in ("thread_id", "decision", "tool", "status")} == {
        "thread_id": thread, "decision": "approve", "tool": "execute", "status": "resumed"}
    assert service.finished(run_id)["stdout"] == "agent\n"
    assert service.get(f"/api/agent/pending-approval/{thread}").json["pending"] is False
    assert service.get(f"/api/agent/state/{thread}").json["state"]["last_run"]["id"] == run_id


def test_agent_edit_and_reject(service):
    thread = thread_name()
    run_id, _ = ask(service, "print('a')", thread)
    reply = service.post("/api/agent/interrupt",
                         {"thread_id": thread, "decision": "edit", "edited_input": {"code": "print('b')"}})
    assert (reply.json["status"], reply.json["edited_input"]) == ("resumed", {"code": "print('b')"})
    assert service.finished(run_id)["stdout"] == "b\n"
    run_id, _ = ask(service, "print('a')", thread)
    reply = service.post("/api/agent/interrupt",
                         {"thread_id": thread, "decision": "edit", "edited_input": {"command": "print('d')"}})
    assert (reply.json["status"], reply.json["edited_input"]) == ("resumed", {"command": "print('d')"})
    assert service.finished(run_id)["stdout"] == "d\n"
    run_id, _ = ask(service, "print('c')", thread)
    assert service.post("/api/agent/interrupt",
                        {"thread_id": thread, "decision": "reject"}).json["status"] == "rejected"
    assert service.finished(run_id)["verdict"] == "rejected"


def test_agent_errors(service):
    thread = thread_name()
    reply = service.post("/api/agent/interrupt", {"thread_id": thread, "decision": "approve"})
    assert reply.status == 404 and set(reply.json) == {"detail", "error", "message"}
    for body in ({"thread_id": thread, "decision": "maybe"}, {"thread_id": thread}, {"decision": "approve"}, {}):
        reply = service.post("/api/agent/interrupt", body)
        assert reply.status == 400 and set(reply.json) == {"detail", "error", "message"}, (body, reply)


# ---- durable ----


def test_approval_outlives_the_service():
    """Stopped while it waits, started again, approved: the run finishes."""
    with Service(*ROOMY) as s:
        run_id, a = ask(s, "print('after the restart')", "t", metadata={"m": 1}, args=["x"])
        rejected, b = ask(s, "print('never')", "u")
        s.restart()
        assert s.get(f"/v1/runs/{run_id}").json["state"] == "waiting"
        assert [x["id"]
                for x in s.get("/v1/approvals", {"decision": "pending"}).json["approvals"]] == [b["id"], a["id"]]
        assert s.get("/api/agent/pending-approval/t").json["pending"] is True
        decide(s, a, "approve")
        decide(s, b, "reject", reason="no")
        r = s.finished(run_id)
        assert (r["verdict"], r["stdout"], r["thread_id"],
                r["metadata"]) == ("ok", "after the restart\n", "t", {"m": 1}), r
        assert s.finished(rejected)["verdict"] == "rejected"
        assert s.post(f"/v1/approvals/{a['id']}", {"decision": "approve"}).status == 409


def test_approval_expires_also_over_a_restart():
    with Service(*ROOMY, "--set", "approvals.timeout=2s") as s:
        run_id, a = ask_for_a_moment(s)
        s.restart()
        assert s.finished(run_id, 20)["verdict"] == "rejected"
        assert s.get(f"/v1/approvals/{a['id']}").json["decision"] == "expired"


def test_approvals_are_in_the_audit_log(start_service):
    """R7.5"""
    s = start_service()
    _, a = ask(s)
    decide(s, a, "reject", reason="because")
    log = s.cli("audit", "show", "-n", "1000").out.decode()
    assert "approval.requested" in log and "approval.decided" in log and a["id"] in log and "because" in log


def test_approval_cannot_be_waived_by_whoever_may_only_run(start_service):
    s = start_service("--set", "approvals.mode=default")
    runner, boss = s.add_key("runner", "run,read"), s.add_key("boss", "run,read,approve")
    body = {"language": "python", "code": "print(1)", "permission_mode": "bypassPermissions", "thread_id": "t",
            "wait": False}
    assert eventually(lambda: s.post("/v1/runs", body, key=runner).status == 202)
    assert s.post("/v1/runs", body, key=runner).json["state"] == "waiting"
    assert s.post("/v1/runs", {**body, "wait": True}, key=boss).json["verdict"] == "ok"


def test_approval_shows_everything_the_program_is_given(service):
    """The person who decides also sees the files beside the program, the variables and stdin, and the risks in them."""
    files = {"main.py": "import side\nside.go()", "side.py": """\
import os
def go():
    os.remove('x')""", "big.txt": "é" * 20000}
    _, approval = ask(service, None, files=files, entry="main.py", language="python", stdin="typed", env={"A": "1"})
    shown = {f["name"]: f for f in approval["input"]["files"]}
    assert shown["side.py"]["content"] == files["side.py"] and approval["input"]["code"] == files["main.py"]
    assert shown["big.txt"]["content"] == "é" * 8192 and shown["big.txt"]["cut_after"] == 16384
    assert approval["input"]["stdin"] == "typed" and approval["input"]["env"] == ["A=1"]
    assert [(r["file"], r["kind"], r["line"]) for r in approval["risks"]] == [("side.py", "file_deletion", 3)]


def test_approval_says_what_was_not_looked_through(service):
    """Many large files do not hold the service up, nor pass in silence."""
    files = {"main.py": "print(1)", **{f"f{i}.py": "os.remove('x')\n" + "#" * 900_000 for i in range(3)}}
    _, approval = ask(service, None, files=files, entry="main.py", language="python")
    assert [r["kind"] for r in approval["risks"]] == ["file_deletion", "not_looked_at"]
    assert approval["risks"][-1]["files"] == 2


# ---- the program that runs is the one that was shown ----

C_CODE = "int main(void) { return 0; }\n"
ANOTHER = ["-wrapper", "/bin/sh,-c,printf '#!/bin/sh\\necho another\\n' >program"]
has_gcc = pytest.mark.skipif(not os.access("/usr/bin/gcc", os.X_OK), reason="there is no C compiler")


@has_gcc
def test_approval_shows_what_the_compiler_is_told(service):
    """The arguments of a compiler can start programs. A person who sees only the code would decide on another
    program."""
    _, approval = ask(service, C_CODE, language="c", compiler_args=ANOTHER)
    assert approval["input"]["compiler_args"] == ANOTHER and approval["input"]["entry"] == "main.c", approval
    assert [(r["kind"], r["excerpt"][:8]) for r in approval["risks"]] == [("compiler", "-wrapper")], approval
    decide(service, approval, "reject")


def test_approval_shows_which_commands_may_be_executed(service):
    _, free = ask(service, "ls", language="bash")
    assert free["input"]["allow_commands"] is None and free["input"]["read_only"] is True, free
    decide(service, free, "reject")
    _, open_root = ask(service, "ls", language="bash", read_only=False)
    assert open_root["input"]["read_only"] is False, open_root
    decide(service, open_root, "reject")


@pytest.mark.parametrize("spelt", ["{'generated_code': 'print(1)#\\x00\\nprint(2)'}",
                                   '{"generated_code": "print(1)#\\u0000\\nprint(2)"}'])
def test_code_cannot_go_on_behind_what_is_shown(service, spelt):
    """A dict spells a NUL. It would end the code that is shown, but not the file that runs."""
    reply = service.post("/v1/runs",
                         {"code": spelt, "permission_mode": "default", "thread_id": thread_name(), "wait": False})
    assert reply.status == 400 and reply.error["field"] == "code" and "NUL" in reply.error["message"], reply


@has_gcc
def test_rule_that_denies_looks_at_all_that_is_given(start_service):
    s = start_service()
    assert s.post("/v1/rules", {"action": "deny", "match": "contains", "text": "FORBIDDEN"}).status == 201
    py = {"language": "python", "code": "print(1)"}
    for fields in ({"language": "c", "code": C_CODE, "compiler_args": ["-DX=FORBIDDEN"]}, {**py, "args": ["FORBIDDEN"]},
                   {**py, "env": {"X": "FORBIDDEN"}}, {**py, "stdin": "a\0FORBIDDEN"}):
        assert s.run(**fields)["verdict"] == "rejected", fields
    assert s.run(**py, args=["fine"])["verdict"] == "ok"


def test_rule_that_denies_a_beginning_reads_the_file_itself(start_service):
    """One byte that is no text, anywhere behind it, and there is no code to compare with."""
    s = start_service()
    assert s.post("/v1/rules", {"action": "deny", "match": "prefix", "text": "echo bad"}).status == 201
    content = base64.b64encode(b"echo bad\n# \xff\n").decode()
    r = s.run(files=[{"name": "main.sh", "content": content, "encoding": "base64"}], language="bash")
    assert (r["verdict"], r["stdout"]) == ("rejected", ""), r


@has_gcc
def test_rule_that_allows_code_does_not_allow_what_a_compiler_makes_of_it(start_service):
    s = start_service()
    run_id, approval = ask(s, C_CODE, language="c")
    decide(s, approval, "approve", remember="prefix")
    assert s.finished(run_id)["verdict"] == "ok"
    assert s.run(C_CODE, language="c", permission_mode="default")["verdict"] == "ok", "it is remembered"
    _, again = ask(s, C_CODE, language="c", compiler_args=ANOTHER)
    decide(s, again, "reject")


def test_edit_that_would_have_no_effect_is_refused(service):
    """An edit that removes a part of the request does not approve that part."""
    run_id, approval = ask(service, "import sys\nprint(sys.argv[1:])", args=["bad"])
    shown = approval["input"]
    reply = service.post(f"/v1/approvals/{approval['id']}", {"decision": "edit", "edited_input": {**shown, "args": []}})
    assert reply.status == 400 and "edited_input.args cannot be changed" in reply.error["message"], reply
    assert service.get(f"/v1/runs/{run_id}").json["state"] == "waiting"
    # all of it, as it was shown, but the code
    decide(service, approval, "edit", edited_input={**shown, "code": "print('edited')"})
    assert service.finished(run_id)["stdout"] == "edited\n"
