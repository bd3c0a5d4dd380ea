"""Images of sessions in the keeper, also with sanitizers: interpreters start cold, so the tests are few."""
from harness import eventually
from sessions import (PATIENCE, checkpoint, end_sessions, execute, images, kill_keeper, output, place, roll_back, sleep,
                      value)


def test_forks_leave_the_keeper_as_it_was(start_service):
    s = start_service("--set", "pools.max=0")
    keeper = s.half("keeper").pid
    reply = s.post("/v1/sessions", {"language": "python"})
    assert reply.status == 201, reply
    original = reply.json["id"]
    value(s, original, "x = 5")
    reply = s.post(f"/v1/sessions/{original}/fork", {"count": 2})
    assert reply.status == 201, reply
    for copy in reply.json["sessions"]:
        assert value(s, copy["id"], "x") == "5"
        assert s.delete(f"/v1/sessions/{copy['id']}").status == 200
    assert s.post(f"/v1/sessions/{original}/fork", {"count": 300}).status == 400
    assert value(s, original, "x") == "5"
    assert s.half("keeper").pid == keeper, "the keeper died, and another one took over"


def begin(s, language, code):
    reply = s.post("/v1/sessions", {"language": language, "undo": 2})
    assert reply.status == 201, reply
    assert execute(s, reply.json["id"], code)["status"] == "ok"
    return reply.json["id"]


def test_branches_rollbacks_and_sleeps_leave_the_keeper_as_it_was(start_service):
    """Sessions of bash start quickly. Every state of the keeper is passed: winners, losers, a score, candidates that
    fail, die and are left behind; undo; a cell that ends its jar; a sleep that is woken by everything."""
    s = start_service("--set", "pools.max=0", "--set", "sessions.max=20")
    keeper = s.half("keeper").pid
    session = begin(s, "bash", "x=1")
    path = place(session)

    def branch(candidates, keep, status=200, **fields):
        reply = s.post(path + "/branches", {"candidates": candidates, "keep": keep, **fields})
        assert reply.status == status, reply
        return reply.json
    assert branch(["false", "x=2", "kill -9 $$"], "first_ok")["winner"] == 1
    assert output(s, session, "echo $x") == "2\n"
    assert branch(["x=3", "x=4"], "best", adopt=False, leave=True, score="echo $x")["left"]
    assert branch(["x=5"], "none", stream=False)["winner"] is None
    branch([], "none", status=400)
    kept = checkpoint(s, session, name="kept")["id"]
    output(s, session, "x=6; echo changed >file")
    assert s.post(path + "/undo").status == 200
    assert output(s, session, "x=7; echo $x") == "7\n"
    assert execute(s, session, "kill -9 -1")["status"] == "lost"
    assert output(s, session, "echo $x") == "7\n"  # undone
    roll_back(s, session, kept)
    assert output(s, session, "echo $x; ls") == "2\n"
    for use in (lambda: s.get(path + "/files"), lambda: s.post(path + "/fork", {"count": 2}),
                lambda: s.get(path + "/image"), lambda: s.post(path + "/wake"),
                lambda: s.post(path + "/exec", {"code": "true"})):
        sleep(s, session)
        assert use().status in (200, 201)
    assert s.get(path + "/tree").status == 200 and s.get(path + "/checkpoints").status == 200
    sleep(s, session)
    assert s.half("keeper").pid == keeper, "the keeper died, and another one took over"
    kill_keeper(s)
    assert output(s, session, "echo $x") == "2\n"
    s.restart()
    assert output(s, session, "echo $x") == "2\n"
    end_sessions(s)
    assert eventually(lambda: images(s) == [], PATIENCE), images(s)


def test_templates_leave_the_keeper_as_it_was(start_service):
    s = start_service("--set", "pools.max=0", "--set", "sessions.max=20")
    keeper = s.half("keeper").pid
    made = s.post("/v1/templates", {"name": "t", "language": "bash", "setup": "f() { echo from $1; }; x=9"})
    assert made.status == 201, made
    assert s.post("/v1/templates", {"name": "t", "language": "bash", "setup": "true"}).status == 409
    assert s.post("/v1/templates", {"name": "bad", "language": "bash", "setup": "false"}).status >= 400
    for _ in range(3):
        run = s.post("/v1/runs", {"template": "t", "code": "f $x; x=1"})
        assert run.status == 200 and run.json["stdout"] == "from 9\n", run
    session = s.post("/v1/sessions", {"language": "bash", "template": "t"})
    assert session.status == 201 and output(s, session.json["id"], "f session") == "from session\n", session
    kill_keeper(s)
    run = s.post("/v1/runs", {"template": "t", "code": "f again"})
    assert run.status == 200 and run.json["stdout"] == "from again\n", run
    assert s.delete("/v1/templates/t").status == 200
    assert s.post("/v1/runs", {"template": "t", "code": "f gone"}).status in (400, 404)
    end_sessions(s)
    assert keeper and eventually(lambda: images(s) == [], PATIENCE), images(s)
