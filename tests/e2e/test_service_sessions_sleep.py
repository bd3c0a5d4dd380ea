"""Sessions that sleep on the disk: POST /v1/sessions/{id}/sleep and /wake, restarts of the service, damaged images."""
import json
import os
import random
import sqlite3
import threading
import time
from contextlib import closing

import pytest
from harness import eventually
from hostview import descendants
from service import Service
from sessions import PATIENCE, create, end_sessions, execute, images, kill_everything, look, sleep, value, wake

pytestmark = pytest.mark.release_only  # IPython starts cold there: every session would take seconds
OPTIONS = ("--set", "runs.max=8", "--set", "pools.preload=python-session", "--set", "sessions.max=8")


@pytest.fixture(scope="module")
def service():
    with Service(*OPTIONS) as s:
        yield s


@pytest.fixture(autouse=True)
def no_session_and_no_image_is_left(request):
    yield
    if "service" not in request.fixturenames:
        return
    s = request.getfixturevalue("service")
    end_sessions(s)
    assert eventually(lambda: images(s) == [], PATIENCE), images(s)
    assert eventually(lambda: os.listdir(s.data / "sessions") == [], PATIENCE)


STATE = """import os, threading
d = {i: str(i) for i in range(20000)}
g = (i * i for i in range(9)); next(g); next(g)
big = bytearray(20 << 20); big[5 << 20] = 5
os.mkdir('sub'); os.chdir('sub')
f = open('kept', 'w+'); _ = f.write('hello world'); f.flush(); _ = f.seek(6)
_ = open('/tmp/other', 'w').write('of tmp'); os.environ['MINE'] = 'yes'"""
LOOK = ("next(g), d[19999], big[5 << 20], f.read(), os.getcwd(), open('/tmp/other').read(), os.environ['MINE'], "
        "open('/sandbox/given.txt').read()")
SEEN = "(4, '19999', 5, 'world', '/sandbox/sub', 'of tmp', 'yes', 'from the client')"


def seen(service, session):
    return " ".join(value(service, session, LOOK).split())


def jars(service):
    return [p for p in descendants(service.half("warden").pid) if p.comm == "python3"]


def test_a_session_wakes_as_it_fell_asleep(service):
    session = create(service, name="mine", limits={"memory": "1g"}, metadata={"a": 1},
                     files={"given.txt": "from the client"})
    value(service, session, STATE)
    before = look(service, session)
    asleep = sleep(service, session)
    assert asleep["not_carried"] == [] and asleep["asleep_since"] and asleep["memory_bytes"] is None
    assert len(images(service)) == 1
    info = os.stat(service.data / "images" / images(service)[0])
    assert info.st_mode & 0o777 == 0o400 and info.st_size > 20 << 20
    # Metadata and cells are there without its program.
    assert look(service, session)["state"] == "sleeping"
    assert [c["cell"] for c in service.get(f"/v1/sessions/{session}/cells").json["cells"]] == [1]
    assert [s["id"] for s in service.get("/v1/sessions", {"state": "sleeping"}).json["sessions"]] == [session]
    awake = wake(service, session)
    same = ("id", "name", "language", "key", "created_at", "idle_s", "ttl_s", "cells", "limits", "cell_limits",
            "metadata")
    assert {k: awake[k] for k in same} == {k: before[k] for k in same}
    assert (awake["state"], awake["asleep_since"]) == ("idle", None)
    assert eventually(lambda: images(service) == [], PATIENCE)
    assert seen(service, session) == SEEN
    cell = execute(service, session, "len(In)")
    assert (cell["cell"], cell["execution_count"]) == (3, 3), cell
    # A restart finds the files of the client, which slept beside the image.
    sleep(service, session)
    assert service.post(f"/v1/sessions/{session}/restart").status == 201
    assert value(service, session, "open('given.txt').read(), 'd' in globals()") == "('from the client', False)"


def test_every_use_wakes_a_session(service):
    session = create(service)
    value(service, session, "abcdef = 41")
    path = f"/v1/sessions/{session}"
    uses = [lambda: service.post(path + "/exec", {"code": "abcdef"}),
            lambda: service.post(path + "/complete", {"code": "abcd"}),
            lambda: service.post(path + "/inspect", {"code": "abcdef"}),
            lambda: service.get(path + "/variables"),
            lambda: service.get(path + "/files"),
            lambda: service.put(path + "/files/new.txt", b"text", headers={"Content-Type": "application/octet-stream"}),
            lambda: service.post(path + "/wake"), lambda: service.post(path + "/fork")]
    for use in uses:
        sleep(service, session)
        reply = use()
        assert reply.status in (200, 201), reply
        assert look(service, session)["state"] == "idle"
    assert value(service, session, "abcdef, open('/sandbox/new.txt').read()") == "(41, 'text')"
    # Neither a look nor a second sleep does.
    sleep(service, session)
    sleep(service, session)
    assert service.request("PATCH", path, {"name": "other", "metadata": {"n": 2}}).json["state"] == "sleeping"
    assert service.get(path + "/notebook").status == 200 and look(service, session)["state"] == "sleeping"


def test_clients_that_come_while_it_wakes_are_all_served(service):
    session = create(service)
    value(service, session, "n = 0")
    sleep(service, session)
    replies = []
    count = lambda: replies.append(execute(service, session, "n += 1; n"))
    threads = [threading.Thread(target=count) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(int(r["result"]["text/plain"]) for r in replies) == [1, 2, 3, 4, 5, 6]


def test_a_cell_that_comes_while_it_falls_asleep_runs(service):
    """Either the sleep is abandoned, or the cell wakes the session: it sees every earlier cell and runs once."""
    session = create(service, limits={"memory": "1g"})
    value(service, session, "n = 0; big = bytearray(40 << 20)")
    for i in range(8):
        replies = []
        t = threading.Thread(target=lambda: replies.append(service.post(f"/v1/sessions/{session}/sleep")))
        t.start()
        time.sleep(random.random() * 0.12)
        assert value(service, session, "n += 1; n") == str(i + 1)
        t.join()
        assert replies[0].status in (200, 409), replies
        if replies[0].status == 409:
            assert "stays awake" in replies[0].error["message"] or "runs or waits" in replies[0].error["message"]


def test_an_idle_session_sleeps_if_it_asked_for_that(service):
    session = create(service, idle="sleep", idle_s=1)
    value(service, session, "x = 5")
    assert look(service, session)["idle"] == "sleep"
    assert eventually(lambda: look(service, session)["state"] == "sleeping", PATIENCE)
    assert value(service, session, "x") == "5"
    assert service.request("PATCH", f"/v1/sessions/{session}", {"idle": "end"}).json["idle"] == "end"
    assert eventually(lambda: service.get(f"/v1/sessions/{session}").status == 410, PATIENCE)


def test_a_busy_session_does_not_sleep_and_a_deleted_one_leaves_nothing(service):
    session = create(service)
    reply = service.post(f"/v1/sessions/{session}/exec", {"code": "import time; time.sleep(60)", "wait": False})
    assert reply.status == 202
    refused = service.post(f"/v1/sessions/{session}/sleep")
    assert refused.status == 409 and "a cell" in refused.error["message"], refused
    assert service.post(f"/v1/sessions/{session}/interrupt").status == 202
    assert eventually(lambda: look(service, session)["state"] == "idle", PATIENCE)
    value(service, session, "import threading, time\n"
                            "t = threading.Thread(target=time.sleep, args=(60,), name='mine'); t.start()")
    refused = service.post(f"/v1/sessions/{session}/sleep", {"strict": True})
    assert refused.status == 409 and "thread" in refused.error["message"], refused
    assert look(service, session)["state"] == "idle"
    assert any("thread" in name for name in sleep(service, session)["not_carried"])
    assert service.delete(f"/v1/sessions/{session}").status == 200
    assert eventually(lambda: images(service) == [], PATIENCE)
    assert service.post(f"/v1/sessions/{session}/wake").status == 410


def test_sleeping_sessions_are_not_open_ones(service):
    sessions = [create(service) for _ in range(8)]
    assert service.post("/v1/sessions", {"language": "python"}).status == 503
    sleep(service, sessions[0])
    other = create(service)
    refused = service.post(f"/v1/sessions/{sessions[0]}/wake")
    assert refused.status == 503 and "sessions.max" in refused.error["message"], refused
    assert look(service, sessions[0])["state"] == "sleeping"
    assert service.delete(f"/v1/sessions/{other}").status == 200
    assert eventually(lambda: service.post(f"/v1/sessions/{sessions[0]}/wake").status == 200, PATIENCE)


def test_a_session_for_whose_image_there_is_no_room_stays_awake(service):
    with Service(*OPTIONS, "--set", "images.max_bytes_per_key=1m") as s:
        session = create(s)
        value(s, session, "x = 5")
        refused = s.post(f"/v1/sessions/{session}/sleep")
        assert refused.status in (403, 429, 507) and "images.max_bytes_per_key" in refused.error["message"], refused
        state = look(s, session)
        assert state["state"] == "idle" and "images.max_bytes_per_key" in state["sleep_error"]
        assert value(s, session, "x") == "5" and images(s) == []


def test_sessions_sleep_when_the_service_stops_and_outlive_the_death_of_everything():
    with Service(*OPTIONS) as s:
        mine, given = create(s, name="mine"), create(s, files={"given.txt": "from the client"})
        other = s.post("/v1/sessions", {"language": "sqlite"}).json["id"]
        assert s.post(f"/v1/sessions/{other}/exec", {"code": "create table t (n)"}).json["status"] == "ok"
        value(s, mine, "x = 41; late = []")
        value(s, given, STATE)
        # One runs a cell when the signal comes: it ends first.
        code = "import time; time.sleep(2); late.append(1)"
        assert s.post(f"/v1/sessions/{mine}/exec", {"code": code, "wait": False}).status == 202
        s.restart()
        states = {x["id"]: x["state"] for x in s.get("/v1/sessions").json["sessions"]}
        assert states == {mine: "sleeping", given: "sleeping", other: "sleeping"}
        assert look(s, mine)["name"] == "mine" and look(s, mine)["cells"] == 2
        assert jars(s) == [] or len(jars(s)) < 3
        kill_everything(s)
        s.start()
        assert value(s, mine, "x + 1, late") == "(42, [1])"
        assert seen(s, given) == SEEN
        assert [c["cell"] for c in s.get(f"/v1/sessions/{mine}/cells").json["cells"]] == [1, 2, 3]
        # Awake, it is lost with everything, and says so; the one that sleeps again is not.
        sleep(s, given)
        kill_everything(s)
        s.start()
        assert s.get(f"/v1/sessions/{mine}").status == 410
        assert value(s, given, "big[5 << 20]") == "5"
        assert s.post(f"/v1/sessions/{other}/exec", {"code": "select * from t"}).json["status"] == "ok"
        for session in (given, other):
            assert s.delete(f"/v1/sessions/{session}").status == 200
        assert eventually(lambda: images(s) == [] and os.listdir(s.data / "sessions") == [], PATIENCE)


def alter(path, change):
    os.chmod(path, 0o600)
    with open(path, "r+b") as f:
        change(f)
    os.chmod(path, 0o400)


def multiply(data, session, count):
    """Sleeping sessions like this one, as rows and links; one row has a spec that nobody can read."""
    ids = [f"ses_{i:026d}" for i in range(count)]
    with closing(sqlite3.connect(data / "belljar.db")) as db, db:
        image, = db.execute("SELECT image FROM sessions WHERE id = ?", (session,)).fetchone()
        for table, key in (("sessions", "id"), ("images", "session")):
            names = [r[1] for r in db.execute(f"PRAGMA table_info({table})") if r[1] not in ("seq", "id", "session")]
            for i, new in enumerate(ids):
                values = [f"'img_{i:026d}'" if n == "image" else n for n in names]
                extra = {"id": new} if table == "sessions" else {"id": f"img_{i:026d}", "session": new}
                db.execute(f"INSERT INTO {table} ({', '.join([*extra, *names])}) SELECT "
                           f"{', '.join('?' for _ in extra)}, {', '.join(values)} FROM {table} WHERE {key} = ?",
                           (*extra.values(), session))
        db.execute("UPDATE sessions SET spec = '{' WHERE id = ?", (ids[0],))
    for i in range(count):
        os.link(data / "images" / image, data / "images" / f"img_{i:026d}")
    return ids


def test_sleeping_sessions_are_found_while_the_service_answers():
    with Service(*OPTIONS) as s:
        session = create(s, "bash")
        execute(s, session, "mine=5")
        sleep(s, session)
        s.stop()
        lost, *others = multiply(s.data, session, 700)
        s.start().stop()  # perhaps while it searches; nothing is lost
        first = s.start().get(f"/v1/sessions/{others[-1]}")
        assert (first.status, first.json["state"]) == (200, "sleeping"), first
        listed = [x["id"] for x in s.get("/v1/sessions", {"state": "sleeping"}).json["sessions"]]
        assert sorted(listed) == sorted([session, *others])
        gone = s.get(f"/v1/sessions/{lost}")
        assert gone.status == 410 and "did not survive" in gone.json["error"]["message"], gone
        assert execute(s, others[-1], "echo $mine")["stdout"] == "5\n"
        assert eventually(lambda: len(images(s)) == len(others), PATIENCE)  # without that of the lost one


def test_a_damaged_image_is_refused_with_a_sentence_and_the_session_sleeps_on(service):
    session = create(service)
    value(service, session, "x = 5")
    sleep(service, session)
    path = service.data / "images" / images(service)[0]
    whole = path.read_bytes()

    def cut(f):
        f.truncate(len(whole) // 2)

    def flip(f):
        f.seek(len(whole) // 2)
        f.write(bytes([whole[len(whole) // 2] ^ 1]))

    def foreign(f):
        f.write(os.urandom(len(whole)))

    for change, words in ((cut, "bytes in place of"), (flip, "was altered"), (foreign, "was altered")):
        alter(path, change)
        for use in ("wake", "exec"):
            reply = service.post(f"/v1/sessions/{session}/{use}", {"code": "x"} if use == "exec" else {})
            assert reply.status == 409 and words in reply.error["message"], reply
            state = look(service, session)
            assert state["state"] == "sleeping" and words in state["sleep_error"], state

        def heal(f):
            f.truncate(0)
            f.write(whole)
        alter(path, heal)
    assert value(service, session, "x") == "5"


# ---- sessions as files ----

def exported(service, session):
    reply = service.get(f"/v1/sessions/{session}/image")
    assert reply.status == 200 and reply.headers["Content-Type"] == "application/octet-stream", reply
    return reply.body


def send(service, data, **how):
    return service.post("/v1/sessions?from=image", data, headers={"Content-Type": "application/octet-stream"}, **how)


def head_of(data):
    n = int.from_bytes(data[20:24], "little")
    return json.loads(data[24:24 + n]), data[24 + n:]


def with_head(head, image):
    text = json.dumps(head).encode()
    return b"BELLJAR SESSION\n" + (1).to_bytes(4, "little") + len(text).to_bytes(4, "little") + text + image


def test_a_session_goes_on_in_another_service(service):
    """Exported awake and asleep, and imported by a service that shares nothing with the first one."""
    session = create(service, name="mine", limits={"memory": "1g"}, metadata={"a": 1}, env={"GIVEN": "1"}, idle="sleep",
                     files={"given.txt": "from the client"})
    value(service, session, STATE)
    awake = exported(service, session)
    assert look(service, session)["state"] == "idle"
    sleep(service, session)
    asleep = exported(service, session)
    assert look(service, session)["state"] == "sleeping"
    with Service(*OPTIONS, "--set", "http.max_body=1m") as other:
        for data in (awake, asleep):
            reply = send(other, data)
            assert reply.status == 201, reply
            made = reply.json
            assert (made["state"], made["name"], made["metadata"], made["idle"]) == ("idle", "mine", {"a": 1}, "sleep")
            assert made["id"] != session and made["limits"]["memory"] == 1 << 30
            assert seen(other, made["id"]) == SEEN
            assert value(other, made["id"], "os.environ['GIVEN']") == "'1'"
            sleep(other, made["id"])
            assert value(other, made["id"], "len(d)") == "20000"
            assert other.delete(f"/v1/sessions/{made['id']}").status == 200
        assert eventually(lambda: images(other) == [], PATIENCE)


def test_a_forged_file_is_refused_or_harms_only_its_own_session(service):
    session = create(service)
    value(service, session, "x = 5")
    data = exported(service, session)
    head, image = head_of(data)
    assert head["bytes"] == len(image) and head["cells"] == 1

    def changed(**fields):
        return {**head, "session": {**head["session"], **fields}}

    flipped = image[:9000] + bytes([image[9000] ^ 1]) + image[9001:]
    forged = [
        ("no exported session", os.urandom(3 << 20)), ("is cut short", data[:len(data) // 2]),
        ("digest is another one", with_head(head, flipped)),
        ("has no digest", with_head({**head, "digest": "00"}, image)),
        ("version 7", data[:16] + b"\7\0\0\0" + data[20:]), ("ttl_s", with_head(changed(ttl_s=1e9), image)),
        ("limits.memory", with_head(changed(limits={"memory": 1 << 50}), image)),
        ("language", with_head(changed(language="none"), image)),
        ("did not start", with_head(changed(language="bash"), image)), ("'files'", with_head(changed(files={}), image)),
        ("'template'", with_head(changed(template="t"), image)),
        ("unknown", with_head(changed(unknown=1), image)),
    ]
    for words, body in forged:
        reply = send(service, body)
        assert reply.status in (400, 409), (words, reply)
        assert words in reply.body.decode(), (words, reply)
    assert [s["id"] for s in service.get("/v1/sessions").json["sessions"]] == [session]
    octets = {"Content-Type": "application/octet-stream"}
    assert service.post("/v1/sessions?from=other", b"x", headers=octets).status == 400
    assert service.post("/v1/sessions?from=image", {}).status == 415
    assert value(service, session, "x") == "5"
    assert eventually(lambda: images(service) == [], PATIENCE)


def upload(service, size, data=b""):
    """The beginning of an import. The service has seen its head once it asks for the body."""
    s = service.connect()
    s.sendall(b"POST /v1/sessions?from=image HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
              b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % size)
    got = s.recv(65536)
    s.sendall(data)
    return s, got


def test_quotas_and_timeouts_bound_what_is_imported():
    """Bytes that arrive count from the head of their request to its end, so imports at a time are bounded, too."""
    quota = ("--set", "images.max_bytes_per_key=64m")

    def accepted(s):
        other, got = upload(s, 40 << 20)
        other.close()
        return got.startswith(b"HTTP/1.1 100 ")

    with Service(*quota) as s:
        refused, got = upload(s, 65 << 20)
        refused.close()
        assert got.startswith(b"HTTP/1.1 507 ") and b"images.max_bytes_per_key" in got, got
        first, got = upload(s, 40 << 20, b"x")
        assert got.startswith(b"HTTP/1.1 100 "), got
        assert not accepted(s) and images(s) == []
        first.close()
        assert eventually(lambda: accepted(s), PATIENCE)
        chunks = s.request("POST", "/v1/sessions?from=image", b"0\r\n\r\n", headers={
            "Content-Type": "application/octet-stream", "Transfer-Encoding": "chunked"})
        assert chunks.status == 400 and "Content-Length" in chunks.error["message"], chunks
    with Service(*quota, "--set", "http.body_timeout=200ms") as s:
        assert s.get("/v1/sessions").status == 200  # its answer waits for the list of images
        slow, got = upload(s, 40 << 20)
        assert (got if b" 408 " in got else slow.recv(65536)).startswith(b"HTTP/1.1 408 ")
        assert eventually(lambda: accepted(s), PATIENCE)
        slow.close()


def test_an_import_is_refused_where_a_person_is_asked_and_is_in_the_audit_log(service):
    session = create(service)
    value(service, session, "x = 5")
    data = exported(service, session)
    made = send(service, data).json["id"]
    assert value(service, made, "x") == "5"
    log = service.cli("audit", "show", "-n", "1000").out.decode().splitlines()
    assert any("session.exported" in line and session in line for line in log), log
    assert any("session.imported" in line and made in line for line in log), log
    with Service(*OPTIONS, "--set", "approvals.mode=manual") as asks:
        reply = send(asks, data)
        assert reply.status == 403 and "shown to nobody" in reply.error["message"], reply
        assert asks.get("/v1/sessions").json["sessions"] == [] and images(asks) == []
