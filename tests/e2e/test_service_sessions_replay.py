"""Sessions that cannot wake: POST /v1/sessions/{id}/wake {"replay": true} runs their cells again."""
import contextlib
import os
import signal
import threading
from pathlib import Path

import pytest
from changed_image import make_foreign
from harness import eventually
from service import Service
from sessions import fails_to_record

pytestmark = pytest.mark.release_only  # IPython starts cold there: every session would take seconds
PATIENCE = 60
OPTIONS = ("--set", "runs.max=8", "--set", "pools.preload=python-session", "--set", "sessions.max=8")
OFFER = 'wake with {"replay": true} runs its cells again'


@pytest.fixture(scope="module")
def service():
    with Service(*OPTIONS) as s:
        yield s


def create(service, **fields):
    reply = service.post("/v1/sessions", {"language": "python", **fields})
    assert reply.status == 201, reply
    return reply.json["id"]


def execute(service, session, code, **fields):
    reply = service.post(f"/v1/sessions/{session}/exec", {"code": code, **fields})
    assert reply.status == 200, reply
    return reply.json


def value(service, session, code):
    cell = execute(service, session, code)
    assert cell["status"] == "ok", cell
    return cell["result"]["text/plain"] if cell["result"] else None


def sleep(service, session):
    reply = service.post(f"/v1/sessions/{session}/sleep")
    assert reply.status == 200 and reply.json["state"] == "sleeping", reply


def damage(service):
    """Every image that a session sleeps in."""
    for path in (service.data / "images").iterdir():
        os.chmod(path, 0o600)
        with open(path, "r+b") as f:
            f.seek(9000)
            f.write(b"damaged")
        os.chmod(path, 0o400)


def replay(service, session):
    return service.post(f"/v1/sessions/{session}/wake", {"replay": True})


def marks(service, session):
    cells = service.get(f"/v1/sessions/{session}/cells").json["cells"]
    return {c["cell"]: c.get("rolled_back_by", {}).get("kind") for c in cells}


@pytest.fixture(autouse=True)
def no_session_is_left(request):
    yield
    if "service" in request.fixturenames:
        s = request.getfixturevalue("service")
        for session in s.get("/v1/sessions").json["sessions"]:
            s.delete(f"/v1/sessions/{session['id']}")
        assert eventually(lambda: not list((s.data / "images").iterdir()), PATIENCE)


def test_a_session_that_does_not_fit_any_longer_is_replayed():
    with Service(*OPTIONS) as s:
        session = create(s, undo=2, files={"given.txt": "given"})
        value(s, session, "import random; x = [open('given.txt').read()]")
        value(s, session, "x.append('undone')")
        assert s.post(f"/v1/sessions/{session}/undo").status == 200
        assert execute(s, session, "1/0")["status"] == "error"
        value(s, session, "x.append(2); open('made.txt', 'w').write('made'); print('said')")
        value(s, session, "random.random()")
        assert execute(s, session, "while True: pass", timeout=0.3)["status"] == "timeout"
        s.stop()
        make_foreign(s, "sleep")
        s.start()
        path = f"/v1/sessions/{session}"
        for use, body in (("wake", {}), ("exec", {"code": "x"})):  # refused, with the change and the second best
            refused = s.post(f"{path}/{use}", body)
            assert refused.status == 409 and "another version of the Linux kernel" in refused.error["message"], refused
            assert OFFER in refused.error["message"], refused
        assert OFFER in s.get(path).json["sleep_error"]
        with s.events(path + "/events", method="GET") as events:
            awake = replay(s, session)
            assert awake.status == 200, awake
            for event in events:
                if event["event"] == "replayed":
                    break
        told = awake.json["replayed"]
        assert event["replayed"] == told == s.get(path).json["replayed"]
        assert told["cells"] == 4 and "another version of the Linux kernel" in told["reason"], told
        assert told["failed"] == [] and told["differs"] == [10] and told["skipped"] == [6], told
        assert "random numbers, times" in told["note"]
        rows = [(r["cell"], r["outcome"], r["differs"], r["as"]) for r in awake.json["replay"]]
        assert rows == [(1, "same", [], 7), (3, "same", [], 8), (4, "same", [], 9), (5, "differs", ["result"], 10),
                        (6, "skipped", [], None)], rows
        assert (awake.json["state"], awake.json["at_cell"], awake.json["sleep_error"]) == ("idle", 10, None)
        assert value(s, session, "x, open('made.txt').read()") == "(['given', 2], 'made')"
        assert marks(s, session) == {1: "replay", 2: "undo", 3: "replay", 4: "replay", 5: "replay", 6: "replay",
                                     7: None, 8: None, 9: None, 10: None, 11: None}
        # It is a session like any other: it sleeps, wakes and is replayed again, now from the new cells.
        sleep(s, session)
        woken = replay(s, session)
        assert woken.status == 200 and woken.json["replay"] is None, woken
        assert value(s, session, "len(x)") == "2"
        sleep(s, session)
        damage(s)
        assert [r["cell"] for r in replay(s, session).json["replay"]] == [7, 8, 9, 10, 11, 12]
        assert s.cli("audit", "show").out.count(b"session.replayed") == 2


def test_a_cell_that_was_rolled_back_says_so_everywhere(service):
    session = create(service, undo=3)
    value(service, session, "x = 1")
    value(service, session, "x = 2")
    assert service.post(f"/v1/sessions/{session}/undo").status == 200
    value(service, session, "x")
    path = f"/v1/sessions/{session}"
    one, two, three = (service.get(f"{path}/cells/{n}").json for n in (1, 2, 3))
    assert (one["rolled_back"], two["rolled_back"], three["rolled_back"]) == (False, True, False)
    assert "rolled_back_by" not in one and two["rolled_back_by"]["at"], two
    assert {**two["rolled_back_by"], "at": None} == {"kind": "undo", "to": 1, "at": None}
    assert [c.get("rolled_back_by") for c in service.get(path + "/cells").json["cells"]] == [
        None, two["rolled_back_by"], None]
    metadata = [c["metadata"] for c in service.get(path + "/notebook").json["cells"]]
    assert metadata == [{}, {"tags": ["rolled-back"], "belljar": {"rolled_back_by": two["rolled_back_by"]}}, {}]


def test_a_copy_is_replayed_with_the_cells_of_its_original(service):
    session = create(service)
    value(service, session, "x = 1")
    copy = service.post(f"/v1/sessions/{session}/fork").json["sessions"][0]["id"]
    value(service, session, "x = 100")  # after the fork: not of the copy
    value(service, copy, "x += 1")
    sleep(service, copy)
    damage(service)
    refused = service.post(f"/v1/sessions/{copy}/wake")
    assert refused.status == 409 and "was altered" in refused.error["message"] and OFFER in refused.error["message"]
    rows = replay(service, copy).json["replay"]
    assert [(r["session"], r["cell"], r["as"]) for r in rows] == [(session, 1, 2), (copy, 1, 3)], rows
    assert value(service, copy, "x") == "2"


def test_a_restart_begins_the_cells_of_a_replay(service):
    session = create(service)
    value(service, session, "x = 1")
    assert service.post(f"/v1/sessions/{session}/restart").status == 201
    value(service, session, "y = 2")
    assert marks(service, session) == {1: "restart", 2: None}
    sleep(service, session)
    damage(service)
    assert [r["cell"] for r in replay(service, session).json["replay"]] == [2]
    assert value(service, session, "y, 'x' in globals()") == "(2, False)"


def test_a_replay_that_ends_its_jar_leaves_the_session_and_its_image(service):
    session = create(service)
    path = f"/v1/sessions/{session}"
    octets = {"Content-Type": "application/octet-stream"}
    assert service.put(path + "/files/there", b"", headers=octets).status in (200, 201)  # no cell wrote it
    value(service, session, "import os; x = 1")
    value(service, session, "if not os.path.exists('there'): os._exit(3)")
    sleep(service, session)
    [image] = (service.data / "images").iterdir()
    whole = image.read_bytes()
    damage(service)
    refused = replay(service, session)
    assert refused.status == 409 and "ended while its cells were replayed" in refused.error["message"], refused
    state = service.get(path).json
    assert (state["state"], state["cells"], state["at_cell"], state["replayed"]) == ("sleeping", 4, 2, None), state
    expected = {1: None, 2: None, 3: "replay", 4: "replay"}
    assert eventually(lambda: marks(service, session) == expected, 10), marks(service, session)
    os.chmod(image, 0o600)
    image.write_bytes(whole)
    os.chmod(image, 0o400)
    assert value(service, session, "x") == "1"
    assert marks(service, session)[5] is None


def test_a_keeper_that_dies_during_a_replay_leaves_the_session_asleep(service):
    session = create(service)
    value(service, session, "import time; x = 1")
    value(service, session, "if 'late' in globals(): pass\nlate = time.sleep(0.8)")
    sleep(service, session)
    damage(service)
    pending = service.post(f"/v1/sessions/{session}/exec", {"code": "x"})
    assert pending.status == 409
    keeper = service.half("keeper").pid
    thread = threading.Thread(target=lambda: attempt(service, session))
    thread.start()
    assert eventually(lambda: service.get(f"/v1/sessions/{session}").json["cells"] >= 4, PATIENCE)
    os.kill(keeper, signal.SIGKILL)
    thread.join()
    assert eventually(lambda: service.reachable() and service.half("keeper").pid != keeper, PATIENCE)
    state = service.get(f"/v1/sessions/{session}").json
    assert state["state"] == "sleeping" and state["cells"] == 4 and state["at_cell"] == 2, state
    assert marks(service, session) == {1: None, 2: None, 3: "replay", 4: "replay"}
    assert [(r["cell"], r["as"]) for r in replay(service, session).json["replay"]] == [(1, 5), (2, 6)]


def attempt(service, session):
    try:
        replay(service, session)
    except Exception as e:  # the keeper died within the answer
        assert isinstance(e, OSError) or type(e).__module__ == "http.client", e


def test_other_requests_wait_for_the_end_of_a_replay(service):
    session = create(service)
    value(service, session, "import time; x = []")
    value(service, session, "time.sleep(0.5); x.append(1)")
    sleep(service, session)
    damage(service)
    thread = threading.Thread(target=lambda: replay(service, session))
    thread.start()
    assert eventually(lambda: service.get(f"/v1/sessions/{session}").json["cells"] > 2, PATIENCE)
    assert value(service, session, "x") == "[1]"  # not in between
    thread.join()


def test_a_session_whose_image_is_lost_is_replayed():
    with Service(*OPTIONS) as s:
        session = create(s)
        assert value(s, session, "x = [1]; x") == "[1]"
        sleep(s, session)
        s.stop()
        for path in (s.data / "images").iterdir():
            path.unlink()
        s.start()
        asleep = s.get(f"/v1/sessions/{session}").json
        assert asleep["state"] == "sleeping" and OFFER in asleep["sleep_error"], asleep
        refused = s.post(f"/v1/sessions/{session}/wake")
        assert refused.status == 409 and "its image is not there" in refused.error["message"], refused
        assert OFFER in refused.error["message"]
        made = replay(s, session)
        assert made.status == 200 and [r["outcome"] for r in made.json["replay"]] == ["same"], made
        assert value(s, session, "x") == "[1]"
        sleep(s, session)  # and sleeps as any other
        assert value(s, session, "x") == "[1]"


def test_a_replay_without_its_record_has_not_happened(service):
    session = create(service)
    value(service, session, "x = 1")
    sleep(service, session)
    damage(service)
    with fails_to_record(service, "session.replayed"):
        refused = replay(service, session)
        assert refused.status == 409 and "could not be replayed" in refused.error["message"], refused
        assert service.get(f"/v1/sessions/{session}").json["state"] == "sleeping"
    assert replay(service, session).status == 200 and value(service, session, "x") == "1"


def opens_a_file(process):
    """Whether one of its threads waits for the other end of a FIFO that it opens."""
    def call(task):
        with contextlib.suppress(OSError):
            return (task / "syscall").read_text().split()[0]
    return any(call(t) in ("257", "56") for t in Path(f"/proc/{process.pid}/task").iterdir())


def test_a_session_that_wakes_while_the_service_is_stopped_sleeps_on():
    with Service(*OPTIONS) as s:
        session = create(s)
        value(s, session, "x = 7")
        sleep(s, session)
        [image] = (s.data / "images").iterdir()
        os.rename(image, image.parent.parent / "aside")
        os.mkfifo(image, 0o444)  # its file is not read to an end
        keeper = s.half("keeper")
        client = threading.Thread(target=lambda: s.post(f"/v1/sessions/{session}/wake"))
        client.start()
        assert eventually(lambda: opens_a_file(keeper), PATIENCE)
        s.drain()
        s.signal(signal.SIGTERM)  # at once
        assert s.popen.wait(PATIENCE) == 0, s.log()[-4000:]
        client.join()
        os.unlink(image)
        os.rename(image.parent.parent / "aside", image)
        s.start()
        assert s.get(f"/v1/sessions/{session}").json["state"] == "sleeping"
        assert value(s, session, "x") == "7"


def test_a_session_from_a_template_is_replayed_in_its_template(service):
    """Also a copy of it, and if the image of the template is damaged, too."""
    setup = "x = [1]; given = open('given').read()"
    assert service.post("/v1/templates", {"name": "t", "language": "python", "setup": setup,
                                          "files": {"given": "of the template"}}).status == 201
    session = create(service, template="t", files={"own": "mine"}, env={"MINE": "yes"})
    value(service, session, "x.append(2)")
    copy = service.post(f"/v1/sessions/{session}/fork").json["sessions"][0]["id"]
    value(service, copy, "x.append(3)")
    look = "x, given, open('own').read(), __import__('os').environ['MINE'], open('given').read()"
    for one in (session, copy):
        sleep(service, one)
    damage(service)  # the template as well: it is made anew
    for one, cells, seen in ((session, 1, "[1, 2]"), (copy, 2, "[1, 2, 3]")):
        made = replay(service, one)
        assert made.status == 200 and [r["outcome"] for r in made.json["replay"]] == ["same"] * cells, made
        state = " ".join(value(service, one, look).split())
        assert state == f"({seen}, 'of the template', 'mine', 'yes', 'of the template')"
    assert service.get("/v1/templates/t").json["rebuilt_at"]
    sleep(service, session)
    damage(service)
    assert service.delete("/v1/templates/t").status == 200
    refused = replay(service, session)
    assert refused.status == 409, refused
    assert "it began in template 't', which is not there any longer" in refused.error["message"]


def test_a_session_from_a_file_has_no_replay_and_says_so(service):
    first = create(service)
    value(service, first, "x = 1")
    body = service.get(f"/v1/sessions/{first}/image").body
    reply = service.post("/v1/sessions?from=image", body, headers={"Content-Type": "application/octet-stream"})
    assert reply.status == 201, reply
    session = reply.json["id"]
    copy = service.post(f"/v1/sessions/{session}/fork").json["sessions"][0]["id"]
    for one in (session, copy):
        sleep(service, one)
    damage(service)
    for one in (session, copy):
        refused = replay(service, one)
        assert refused.status == 409 and "it began in a file, so it has no replay" in refused.error["message"], refused
        assert "a restart begins anew" in refused.error["message"], refused


def test_a_replay_at_the_terminal(service):
    session = create(service)
    value(service, session, "x = 1")
    sleep(service, session)
    damage(service)
    refused = service.cli("session", "wake", session)
    assert refused.status == 125 and OFFER.encode() in refused.err, refused
    done = service.cli("session", "wake", session, "--replay")
    assert done.status == 0 and b"1 cells ran again in a new program" in done.err, done
    assert b"new cells that failed: none" in done.err, done
    sleep(service, session)
    damage(service)
    repl = service.cli("repl", "--session", session, "python", stdin=b":wake nothing\n:wake replay\nprint('x is', x)\n")
    assert b"':wake nothing' is not known" in repl.err, repl
    assert b"so 1 cells ran again: 0 failed, 0 differ." in repl.out, repl
    assert b"x is 1\n" in repl.out, repl


def test_a_session_is_moved_and_used_at_the_terminal(service, tmp_path):
    session = create(service, name="mine")
    value(service, session, "x = 41")
    path = str(tmp_path / "session")
    assert service.cli("session", "export", session, path).status == 0
    assert os.stat(path).st_mode & 0o777 == 0o600
    again = service.cli("session", "export", session, path)
    assert again.status == 125 and b"File exists" in again.err, again
    piped = service.cli("session", "export", session, "-")
    assert piped.status == 0 and piped.out.startswith(b"BELLJAR SESSION\n"), piped.err
    for command, data in ((("import", path), None), (("import", "-"), piped.out), (("import",), piped.out)):
        made = service.cli("session", *command, stdin=data)
        assert made.status == 0, made
        copy = made.out.split()[0].decode()
        assert copy != session and value(service, copy, "x + 1") == "42"
        assert service.delete(f"/v1/sessions/{copy}").status == 200
    refused = service.cli("session", "import", "-", stdin=b"no session")
    assert refused.status == 125 and b"no exported session" in refused.err, refused
    missing = str(tmp_path / "missing")
    nothing = service.cli("session", "export", "ses_none", missing)
    assert nothing.status == 125 and b"ses_none" in nothing.err and not os.path.exists(missing), nothing
    used = service.cli("session", "attach", session, stdin=b"print('x is', x)\n")
    assert used.status == 0 and used.out == b"x is 41\n", used
    assert value(service, session, "x") == "41"  # it stays open
    gone = service.cli("session", "attach", "ses_none")
    assert gone.status != 0 and b"there is no session 'ses_none'" in gone.err, gone


def test_event_loops_of_cells_work_after_a_fork_a_rollback_and_a_wake(service):
    session = create(service)
    value(service, session, "import asyncio\nloop = asyncio.new_event_loop()\n"
                            "async def late(n):\n    await asyncio.sleep(0.01)\n    return n\n"
                            "first = loop.run_until_complete(loop.run_in_executor(None, int, '7'))\n"
                            "task = loop.create_task(late('of before'))")
    path = f"/v1/sessions/{session}"
    assert service.post(path + "/checkpoints", {"name": "c"}).json["not_carried"] == []
    fork = service.post(path + "/fork").json
    assert fork["not_carried"] == []
    look = ("loop.run_until_complete(late(5)), loop.run_until_complete(task), "
            "loop.run_until_complete(loop.run_in_executor(None, int, '8')), first")
    seen = "(5, 'of before', 8, 7)"
    assert value(service, fork["sessions"][0]["id"], look) == seen
    assert value(service, session, look) == seen
    assert service.post(path + "/rollback", {"to": "c"}).status == 200
    assert value(service, session, look) == seen
    assert service.post(path + "/rollback", {"to": "c"}).status == 200
    sleep(service, session)
    assert value(service, session, look) == seen
