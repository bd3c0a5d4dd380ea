"""`belljar approvals` and `belljar top`: a person at a terminal decides on runs and sees the service at work."""

import shutil

import pytest

import harness
from harness import belljar, eventually
from service import Service
from terminal import Terminal

HIDDEN = "print(1)  # \u202e zero\u200bwidth \x1b[31m"


@pytest.fixture(scope="module")
def s():
    with Service("--set", "approvals.mode=default") as service:
        yield service


@pytest.fixture
def tmux(s, public_path):
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed: apt-get install tmux")
    opened = []

    def make(*argv, columns=110):
        environ = {"BELLJAR_STATE": s.state, "TERM": "tmux-256color"}
        opened.append(Terminal([harness.BELLJAR, *argv], public_path, columns, environ))
        return opened[-1]
    yield make
    for t in opened:
        t.__exit__()


def ask(s, code="import os\nos.remove('x')\n", **more):
    """A run that waits for a decision; its id and the id of the request."""
    body = s.post("/v1/runs", {"language": "python", "code": code, "wait": False, **more}).json
    assert body["state"] == "waiting", body
    return body["id"], body["approval"]["id"]


def state_of(s, run):
    return s.get(f"/v1/runs/{run}").json["state"]


def end(s, run):
    """A run that was let in has an end; the others keep waiting."""
    assert eventually(lambda: state_of(s, run) == "finished", 30), s.get(f"/v1/runs/{run}").json
    return s.get(f"/v1/runs/{run}").json


def command(*argv):
    """Its status, and both streams as text."""
    r = belljar(*argv)
    return r.status, r.out.decode(), r.err.decode()


def approvals(s, *argv):
    return command("approvals", *argv, "--state", s.state)


def printed(s, *argv):
    status, out, err = approvals(s, *argv)
    assert status == 0, err
    return out


def decided(s, *argv):
    status, out, err = approvals(s, *argv)
    assert (status, out) == (0, ""), err
    return err


@pytest.fixture(autouse=True)
def nothing_waits(s):
    """A request that a test left would be the first one that the next test meets."""
    yield
    for a in s.get("/v1/approvals?decision=pending").json["approvals"]:
        s.post(f"/v1/approvals/{a['id']}", {"decision": "reject"})


def test_approvals_are_listed_shown_and_decided(s):
    run, request = ask(s, thread_id="t1", args=["a", "b c"], env={"K": "V"},
                       files=[{"name": "d.txt", "content": "hi\nthere"}])
    rows = printed(s, "ls")
    assert request in rows and "1 risk" in rows and "t1" in rows, rows
    shown = printed(s, "show", request[-9:])
    for part in ("os.remove('x')\n      ! file_deletion: deletes a file\n", '["a","b c"]', '["K=V"]', "network: none",
                 "limits: 10s, 256m of memory", "file d.txt, 8 bytes\n    1 | hi\n    2 | there\n"):
        assert part in shown, (part, shown)
    assert state_of(s, run) == "waiting"
    assert "approved " + request in decided(s, "approve", request[-9:])
    assert end(s, run)["verdict"] == "runtime_error"
    status, _, err = approvals(s, "reject", request)
    assert status != 0 and "already decided: approve" in err, err


def test_rejected_run_never_starts_and_has_the_reason(s):
    run, request = ask(s)
    decided(s, "reject", request, "--reason", "not today")
    result = end(s, run)
    assert result["verdict"] == "rejected" and "not today" in str(result), result
    assert request not in printed(s, "ls") and request in printed(s, "ls", "--all")


def test_remembered_approval_lets_the_same_run_start_at_once(s):
    code = "print('remember me')"
    run, request = ask(s, code)
    decided(s, "approve", request, "--remember", "exact")
    assert end(s, run)["verdict"] == "ok"
    again = s.post("/v1/runs", {"language": "python", "code": code}).json
    assert again["verdict"] == "ok", again


@pytest.mark.parametrize("argv, sentence", [
    (["approve", "nothing"], "there is no request 'nothing': 'belljar approvals ls' lists them"),
    (["approve", "apr_x", "--remember", "ever"], "--remember takes once, exact, session or prefix, and not 'ever'"),
    (["approve"], "ID"),
    (["decide", "apr_x"], "decide"),
])
def test_bad_approval_commands_say_what_is_accepted(s, argv, sentence):
    status, out, err = approvals(s, *argv)
    assert status != 0 and sentence in err and out == "", (status, out, err)


def test_characters_that_nobody_sees_are_shown_and_none_reaches_the_terminal(s):
    _, request = ask(s, HIDDEN, thread_id="t\x1b[2J")
    for shown in (printed(s, "show", request), printed(s, "ls")):
        assert not any(c in shown for c in "\u202e\u200b\x1b"), shown
    shown = printed(s, "show", request)
    assert "print(1)  # <U+202E> zero<U+200B>width <U+001B>[31m" in shown and "t<U+001B>[2J" in shown, shown


def test_without_a_service_the_commands_say_how_to_start_one(public_path):
    for argv in (["approvals", "ls"], ["approvals", "watch"], ["top", "--once"]):
        status, _, err = command(*argv, "--state", public_path)
        assert status != 0 and "no service is running: start one with 'belljar serve'" in err, err


def test_person_decides_at_the_terminal_and_keys_pressed_before_do_not_count(s, tmux):
    t = tmux("approvals", "watch")
    t.shows("waiting for runs that need an approval; Ctrl-C ends")
    t.type("a", "Enter")  # nothing was asked yet
    first, request = ask(s, "print('first')")
    t.shows("approve, reject, skip or quit? [a/r/s/q]")
    assert request in t.screen() and state_of(s, first) == "waiting"
    t.type("a", "Enter")
    assert end(s, first)["stdout"] == "first\n"
    second, _ = ask(s, "print('second')")
    t.shows("    1 | print('second')")
    t.type("r", "Enter")
    assert end(s, second)["verdict"] == "rejected"
    third, request = ask(s, "print('third')")
    t.shows("    1 | print('third')", "  approve, reject, skip or quit? [a/r/s/q]")
    decided(s, "approve", request)
    t.shows("  decided meanwhile: approve by unix:")
    assert end(s, third)["verdict"] == "ok"
    t.keys("C-c")
    assert eventually(t.gone, 10), t.screen()


def test_watch_goes_on_with_the_next_service(tmux, s):
    t = tmux("approvals", "watch")
    t.shows("waiting for runs that need an approval; Ctrl-C ends")
    s.stop()
    t.shows("the service is gone; waiting for the next one")
    s.start()
    run, _ = ask(s, "print('after')")
    t.shows("    1 | print('after')", "  approve, reject, skip or quit? [a/r/s/q]")
    t.type("a", "Enter")
    assert end(s, run)["verdict"] == "ok"


def test_top_shows_runs_and_sessions_and_ends_with_q(s, tmux):
    run = s.post("/v1/runs", {"language": "bash", "code": "sleep 60", "permission_mode": "bypassPermissions",
                              "limits": {"wall_ms": 60000}, "wait": False}).json["id"]
    name = "named \x1b[31m"
    session = s.post("/v1/sessions", {"language": "bash", "name": name}).json["id"]
    _, once, _ = command("top", "--once", "--state", s.state)
    assert run in once and session in once and "1 running" in once and "\x1b" not in once, once
    t = tmux("top", "--interval", "200ms")
    t.shows(run[:20])
    assert "named <U+001B>[31m" in t.screen() and "1 running" in t.screen(), t.screen()
    assert s.delete(f"/v1/runs/{run}").status < 300
    assert eventually(lambda: "0 running" in t.screen(), 20), t.screen()
    narrow = tmux("top", columns=40)
    narrow.shows("runs: 0 running, 0 queued, ")
    assert all(len(line) <= 40 for line in narrow.screen().split("\n"))
    for shown in (t, narrow):
        shown.keys("q")
        assert eventually(shown.gone, 10), shown.screen()
