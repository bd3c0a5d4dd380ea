"""Directories of the machine that sessions read (R4.4): the same rules as in a run, over copies, sleep and wake."""

import shutil

import pytest

from harness import belljar, public_dir
from service import Service

LOOK = "import os\nprint(sorted(os.listdir('/mnt')), open('/mnt/app/a.txt').read(), os.path.exists('/mnt/app/.env'))"
SEEN = "['app'] text False\n"


@pytest.fixture(scope="module")
def place():
    top = public_dir()
    for name in ("roots/app", "other"):
        (top / name).mkdir(parents=True)
    (top / "roots/app/a.txt").write_text("text")
    (top / "roots/app/.env").write_text("PASSWORD=1")
    (top / "roots/link").symlink_to(top / "other")
    yield top
    shutil.rmtree(top, ignore_errors=True)


@pytest.fixture(scope="module")
def mounts(place):
    with Service("--set", f"mounts.roots={place}/roots") as s:
        yield s


def opened(service, source, **more):
    body = {"language": "python", "mounts": [{"from": str(source), "to": "app"}], **more}
    reply = service.post("/v1/sessions", body)
    assert reply.status == 201, reply
    return reply.json


def cell(service, session, code, **more):
    return service.post(f"/v1/sessions/{session['id']}/exec", {"code": code, **more}).json


def test_session_its_copies_and_its_sleep_have_the_mounts(mounts, place):
    """R4.4"""
    s = opened(mounts, place / "roots/app", undo=2)
    want = [{"from": f"{place}/roots/app", "to": "app", "secrets": False}]
    assert s["mounts"] == want
    assert cell(mounts, s, LOOK + "\nf = open('/mnt/app/a.txt'); x = f.read(2)")["stdout"] == SEEN
    refused = cell(mounts, s, "open('/mnt/app/new', 'w')")
    assert refused["verdict"] == "runtime_error" and not (place / "roots/app/new").exists(), refused
    copy, = mounts.post(f"/v1/sessions/{s['id']}/fork", {"count": 1}).json["sessions"]
    assert copy["mounts"] == want and cell(mounts, copy, LOOK)["stdout"] == SEEN
    assert cell(mounts, copy, "print(x, f.read())")["stdout"] == "te xt\n"
    mounts.delete(f"/v1/sessions/{copy['id']}")
    assert mounts.post(f"/v1/sessions/{s['id']}/undo", {}).status == 200
    assert cell(mounts, s, LOOK)["stdout"] == SEEN
    assert mounts.post(f"/v1/sessions/{s['id']}/sleep", {}).status == 200
    assert cell(mounts, s, LOOK + "\nprint(f.read())")["stdout"] == SEEN + "xt\n"
    assert mounts.post(f"/v1/sessions/{s['id']}/restart", {}).status == 201
    assert cell(mounts, s, LOOK)["stdout"] == SEEN
    mounts.delete(f"/v1/sessions/{s['id']}")
    # The next session has none, whether its jar waited for it or not.
    other = mounts.post("/v1/sessions", {"language": "python"}).json
    assert other["mounts"] == []
    assert cell(mounts, other, "import os; print(os.path.exists('/mnt/app'))")["stdout"] == "False\n"
    mounts.delete(f"/v1/sessions/{other['id']}")


@pytest.mark.parametrize("name, field, words", [
    ("/etc", "mounts[0].from", "mounts.roots"), ("/", "mounts[0].from", "'/'"),
    ("{top}/roots/../other", "mounts[0].from", "'..'"), ("{top}/roots/link", None, "symbolic link"),
    ("{top}/roots/nothing", None, "no directory")])
def test_mount_of_a_session_outside_the_roots_is_refused(mounts, place, name, field, words):
    source = name.replace("{top}", str(place))
    reply = mounts.post("/v1/sessions", {"language": "python", "mounts": [{"from": source}]})
    assert reply.status in (400, 403, 503) and words in reply.error["message"], reply
    assert reply.error.get("field") == field, reply


def test_approver_of_a_cell_sees_the_mounts_of_its_session(mounts, place):
    s = opened(mounts, place / "roots/app")
    waits = cell(mounts, s, LOOK, permission_mode="default", wait=False)
    pending = mounts.get("/v1/approvals", {"decision": "pending"}).json["approvals"]
    asked, = (a for a in pending if a["run_id"] == waits["id"])
    assert asked["input"]["mounts"] == s["mounts"]
    assert [(r["kind"], r["excerpt"]) for r in asked["risks"]][0] == ("mount", f"{place}/roots/app")
    mounts.delete(f"/v1/sessions/{s['id']}")
    denied = {"action": "deny", "match": "contains", "text": "roots/app"}
    rule = mounts.post("/v1/rules", denied).json
    reply = mounts.post("/v1/sessions", {"language": "python", "mounts": [{"from": f"{place}/roots/app"}]})
    assert mounts.delete(f"/v1/rules/{rule['id']}").status in (200, 204)
    assert reply.status == 403, reply


def test_session_wakes_with_its_mounts_only_beneath_the_roots_of_now(place):
    """The number of a root belongs to one start of the service, and a root that is gone shows nothing."""
    with Service("--set", f"mounts.roots={place}/roots") as s:
        session = opened(s, place / "roots/app", idle="sleep")
        assert cell(s, session, LOOK)["stdout"] == SEEN
        assert s.post(f"/v1/sessions/{session['id']}/sleep", {}).status == 200
        for roots, works in ((f"{place}/other, {place}/roots", True), (f"{place}/other", False)):
            s.stop()
            s.options = [o.replace(o[13:], roots) if o.startswith("mounts.roots=") else o for o in s.options]
            s.start()
            if works:
                assert cell(s, session, LOOK)["stdout"] == SEEN
                assert s.post(f"/v1/sessions/{session['id']}/sleep", {}).status == 200
                continue
            reply = s.post(f"/v1/sessions/{session['id']}/wake", {})
            assert reply.status == 403 and "mounts.roots" in reply.error["message"], reply
            assert s.get(f"/v1/sessions/{session['id']}").json["state"] == "sleeping"


def test_repl_mounts_directories_of_the_caller(place):
    """R4.4, at the terminal: without a service the caller is the operator."""
    code = b"print(open('/mnt/app/a.txt').read(), __import__('os').path.exists('/mnt/app/.env'))\n"
    where = place / "roots/app"
    assert belljar("repl", "--local", "--mount", where, stdin=code).out == b"text False\n"
    shown = belljar("repl", "--local", "--mount", f"{where}:app", "--mount-secrets", stdin=code)
    assert shown.out == b"text True\n", shown
    for options, words in ((["--mount-secrets"], b"without --mount"), (["--mount", place / "nothing"], b"--mount"),
                           (["--mount", where, "--session", "ses_x"], b"--session")):
        bad = belljar("repl", "--local", *options, stdin=b"")
        assert bad.status in (1, 64) and words in bad.err, bad
