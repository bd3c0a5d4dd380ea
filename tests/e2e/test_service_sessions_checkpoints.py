"""Checkpoints of live sessions: they are kept on the disk, and a session goes back to them."""
import os
import threading

import pytest
import sessions
from harness import eventually
from service import Service
from sessions import (checkpoint, checkpoints, end_sessions, execute, fails_to_record, images, kill_keeper, place,
                      roll_back, value)

pytestmark = pytest.mark.release_only  # IPython starts cold there: every session would take seconds


@pytest.fixture(scope="module")
def service():
    with Service("--set", "runs.max=8", "--set", "pools.preload=python-session", "--set", "sessions.max=16") as s:
        yield s


def create(service, **fields):
    return place(sessions.create(service, **fields))


@pytest.fixture(autouse=True)
def no_session_is_left(service):
    yield
    end_sessions(service)
    assert eventually(lambda: images(service) == []), images(service)  # CHECKPOINT-3


STATE = """import os, sys
d = {i: str(i) for i in range(20000)}
g = (i * i for i in range(9)); next(g); next(g)
big = bytearray(20 << 20); big[5 << 20] = 5
os.mkdir('sub'); os.chdir('sub'); os.environ['MINE'] = 'kept'
f = open('kept', 'w+'); _ = f.write('hello world'); f.flush(); _ = f.seek(6)
_ = open('/tmp/other', 'w').write('of tmp'); os.chmod('kept', 0o640)"""
LOOK = ("next(g), d[19999], big[5 << 20], f.read(), os.getcwd(), open('/tmp/other').read(), os.environ['MINE'], "
        "oct(os.stat('kept').st_mode & 0o777), sorted(os.listdir('/sandbox'))")
SEEN = "(4, '19999', 5, 'world', '/sandbox/sub', 'of tmp', 'kept', '0o640', ['sub'])"
SPOIL = """d.clear(); big[5 << 20] = 0; f.close(); os.remove('kept'); os.chdir('/'); os.remove('/tmp/other')
os.environ['MINE'] = 'spoilt'; _ = open('/sandbox/new', 'w').write('x'); del g"""


def test_a_rollback_brings_back_variables_files_and_open_files(service):
    session = create(service, limits={"memory": "1g"})
    value(service, session, STATE)
    made = checkpoint(service, session, name="good")
    assert (made["name"], made["kind"], made["cell"], made["not_carried"]) == ("good", "checkpoint", 1, [])
    assert made["bytes"] > 20 << 20 and made["created_at"] and made["pause_ms"] > 0, made
    assert checkpoints(service, session) == [made] == [service.get(f"{session}/checkpoints/good").json]
    assert images(service) == [made["id"]]
    before = service.get(session).json
    for to in ("good", made["id"], 1):
        value(service, session, SPOIL)
        reply = roll_back(service, session, to)
        assert reply["to"] == made and (reply["session"]["state"], reply["session"]["at_cell"]) == ("idle", 1), reply
        assert value(service, session, LOOK) == SEEN
        value(service, session, "f.seek(6), len(d)")
    after = service.get(session).json
    same = ("id", "key", "ttl_s", "created_at", "restarts", "limits", "name")
    assert {k: before[k] for k in same} == {k: after[k] for k in same}
    assert (after["cells"], after["at_cell"]) == (10, 10)
    cells = service.get(session + "/cells").json["cells"]
    assert [c["cell"] for c in cells if not c["rolled_back"]] == [1, 9, 10], cells


def test_history_says_which_cells_have_no_effect_any_longer(service):
    session = create(service)
    for n in (1, 2, 3):
        value(service, session, f"x = {n}")
        checkpoint(service, session, name=f"c{n}")
    roll_back(service, session, "c1")
    value(service, session, "y = x")  # cell 4
    roll_back(service, session, "c2")
    value(service, session, "z = x")  # cell 5
    assert value(service, session, "x, z, 'y' in globals()") == "(2, 2, False)"
    cells = service.get(session + "/cells").json["cells"]
    assert [c["cell"] for c in cells if c["rolled_back"]] == [3, 4], cells


def test_undo_goes_back_before_the_last_cells(service):
    session = create(service, undo=3, limits={"memory": "1g"})
    assert service.get(session).json["undo"] == 3
    for n in range(1, 6):
        assert execute(service, session, f"x = {n}")["notes"] == []
    kept = checkpoints(service, session)
    assert eventually(lambda: {c["id"] for c in kept} <= set(images(service)))  # the other files are bases
    assert [(c["kind"], c["before_cell"], c["cell"]) for c in kept] == [("undo", 3, 2), ("undo", 4, 3), ("undo", 5, 4)]
    assert service.post(session + "/undo").status == 200
    assert service.get(session).json["at_cell"] == 4
    value(service, session, "y = x")  # cell 6
    assert value(service, session, "x, y") == "(4, 4)"  # cell 7
    reply = service.post(session + "/undo", {"cells": 2})
    assert reply.status == 200 and reply.json["to"]["before_cell"] == 6, reply
    assert value(service, session, "x, 'y' in globals()") == "(4, False)"
    gone = service.post(session + "/undo", {"cells": 9})
    assert gone.status == 409 and "is not kept" in gone.error["message"], gone
    assert service.request("PATCH", session, {"undo": 0}).json["undo"] == 0
    assert checkpoints(service, session) == []
    off = service.post(session + "/undo")
    assert off.status == 409 and '"undo": N' in off.error["message"], off


def test_a_session_with_undo_outlives_a_cell_that_ends_its_jar(service):
    session = create(service, undo=2, cell_limits={"wall_ms": 2000}, limits={"memory": "600m"})
    value(service, session, "x = 1")
    for code in ("import os; os.kill(os.getpid(), 9)", "x = 2; b = bytearray(700 << 20)",
                 "sum(iter(int, 1))"):
        x = execute(service, session, "x += 1; x")["result"]["text/plain"]
        cell = execute(service, session, code)
        if cell["status"] != "lost":  # memory ran out, and Python said so
            assert "b = bytearray" in code and cell["status"] == "error", cell
            continue
        assert any("goes on with the state before cell" in n for n in cell["notes"]), cell
        assert value(service, session, "x") == x
        assert service.post(session + "/undo").status == 200
        assert value(service, session, "x") == x
    listed = service.get(session + "/cells").json["cells"]
    assert all(c["rolled_back"] for c in listed if c["status"] == "lost"), listed


def test_a_session_with_a_checkpoint_goes_back_to_it_when_its_jar_ends(service):
    session = create(service)
    value(service, session, "x = 1")
    checkpoint(service, session)
    value(service, session, "x = 2")
    cell = execute(service, session, "import os; os._exit(3)")
    assert cell["status"] == "lost" and any("after cell 1, its newest checkpoint" in n for n in cell["notes"]), cell
    assert value(service, session, "x") == "1"
    assert service.post(session + "/restart").status == 201  # now it has no past
    assert execute(service, session, "import os; os._exit(3)")["status"] == "lost"
    assert eventually(lambda: service.get(session).status == 410)


def test_cells_that_run_or_wait_end_with_a_rollback(service):
    session = create(service)
    value(service, session, "x = 1")
    checkpoint(service, session, name="a")
    ids = [service.post(session + "/exec", {"code": code, "wait": False, "timeout": 60}).json["cell"]
           for code in ("import time; x = 2; time.sleep(60)", "x = 3")]
    assert eventually(lambda: service.get(session).json["cell"] == ids[0])
    busy = service.post(session + "/checkpoints")
    assert busy.status == 409 and "runs" in busy.error["message"], busy
    roll_back(service, session, "a")
    assert value(service, session, "x") == "1"
    lost = [service.get(f"{session}/cells/{n}").json for n in ids]
    assert [c["status"] for c in lost] == ["lost", "lost"], lost
    assert all("rolled back" in " ".join(c["notes"]) for c in lost[:1]), lost


def spoil_byte(path):
    with open(path, "r+b") as f:
        f.seek(os.path.getsize(path) // 2)
        byte = f.read(1)
        f.seek(-1, os.SEEK_CUR)
        f.write(bytes([byte[0] ^ 1]))


def replace(path):
    with open(path + ".x", "wb") as f:
        f.write(bytes(os.path.getsize(path)))
    os.rename(path + ".x", path)


def cut(path):
    os.chmod(path, 0o600)
    os.truncate(path, os.path.getsize(path) - 4096)


DAMAGES = {"a byte": (spoil_byte, "was altered"), "replaced": (replace, "was altered"), "cut": (cut, "in place of"),
           "removed": (os.remove, "cannot be opened")}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_refused_and_the_session_stays_as_it_is(service, damage):
    """CHECKPOINT-2, STORED-3"""
    spoil, says = DAMAGES[damage]
    session = create(service)
    value(service, session, "x = 1")
    made = checkpoint(service, session, name="a")
    value(service, session, "x = 2")
    spoil(os.path.join(service.state, "data", "images", made["id"]))
    reply = service.post(session + "/rollback", {"to": "a"})
    assert reply.status == 409 and says in reply.error["message"], reply
    fork = service.post(session + "/fork", {"from": "a"})
    assert fork.status == 409 and says in fork.error["message"], fork
    assert value(service, session, "x") == "2"


def test_a_copy_begins_from_a_checkpoint_and_the_tree_has_all(service):
    root = create(service, name="root")
    value(service, root, "x = 1")
    made = checkpoint(service, root, name="one")
    value(service, root, "x = 2")
    forks = service.post(root + "/fork", {"from": "one", "count": 2, "names": ["a", "b"]})
    assert forks.status == 201, forks
    a, b = ("/v1/sessions/" + s["id"] for s in forks.json["sessions"])
    assert [value(service, s, "x") for s in (a, b, root)] == ["1", "1", "2"]
    child = "/v1/sessions/" + service.post(b + "/fork").json["sessions"][0]["id"]
    assert value(service, child, "x") == "1"
    service.delete(b)
    for asked in (root, a, b, child):
        tree = service.get(asked + "/tree")
        assert tree.status == 200 and "/v1/sessions/" + tree.json["root"] == root, tree
        nodes = {"/v1/sessions/" + s["id"]: s for s in tree.json["sessions"]}
        assert list(nodes) == [root, a, b, child]
        assert [(n["state"], n["parent_cell"], n["parent_checkpoint"]) for n in nodes.values()] == [
            ("idle", 0, None), ("idle", 1, made["id"]), ("ended", 1, made["id"]), ("idle", 1, None)]
        assert ["/v1/sessions/" + (n["parent"] or "") for n in nodes.values()] == ["/v1/sessions/", root, root, b]
        assert nodes[root]["checkpoints"] == [made]
    assert service.get("/v1/sessions/ses_none/tree").status == 404
    missing = service.post(root + "/fork", {"from": "none"})
    assert missing.status == 404 and missing.error["field"] == "from", missing


def test_checkpoints_can_be_deleted_and_are_in_the_audit_log(service):
    session = create(service)
    first, second = checkpoint(service, session, name="a"), checkpoint(service, session)
    again = service.post(session + "/checkpoints", {"name": "a"})
    assert again.status == 409 and "already" in again.error["message"], again
    value(service, session, "x = 1")
    roll_back(service, session, first["id"])
    assert service.delete(f"{session}/checkpoints/a").json == first
    assert checkpoints(service, session) == [second]
    for reply in (service.get(f"{session}/checkpoints/a"), service.delete(f"{session}/checkpoints/a"),
                  service.post(session + "/rollback", {"to": "a"}), service.post(session + "/rollback", {"to": 1})):
        assert reply.status == 404, reply
    bad = service.post(session + "/rollback", {"to": 9})
    assert bad.status == 400 and bad.error["field"] == "to" and "from 0 to 1" in bad.error["message"], bad
    assert value(service, session, "'x' in globals()") == "False"  # of the deleted checkpoint, whose pages it has
    name = session.rsplit("/", 1)[1]
    log = [line for line in service.cli("audit", "show", "-n", "1000").out.decode().splitlines() if name in line]
    kinds = [word for line in log for word in line.split() if word.startswith("session.")]
    assert kinds == ["session.created", "session.checkpoint", "session.checkpoint", "session.rolled_back",
                     "session.checkpoint_deleted"], log
    assert service.cli("audit", "verify").status == 0


def test_checkpoints_share_bytes_and_need_no_other_checkpoint(service):
    """STORED-5: the first one is deleted, and the second one has everything, also for the next keeper."""
    session = create(service, limits={"memory": "1g"})
    value(service, session, "import os; x = 1; big = os.urandom(20 << 20); h = hash(big)")
    first = checkpoint(service, session)
    value(service, session, "x = 2")
    second = checkpoint(service, session, name="second")
    assert second["bytes"] < first["bytes"] / 4, (first, second)
    assert service.delete(f"{session}/checkpoints/{first['id']}").status == 200
    assert checkpoints(service, session) == [second]
    for _ in range(2):
        value(service, session, "x = 3; del big")
        roll_back(service, session, "second")
        assert value(service, session, "x, hash(big) == h") == "(2, True)"
        assert images(service) == sorted((first["id"], second["id"]))
        kill_keeper(service)
    assert service.get(f"{session}/checkpoints/{first['id']}").status == 404
    assert service.delete(f"{session}/checkpoints/second").status == 200
    assert eventually(lambda: images(service) == []), images(service)


def test_a_quota_refuses_a_checkpoint_and_costs_a_cell_only_a_note():
    """STORED-4, CHECKPOINT-4"""
    with Service("--set", "pools.preload=python-session", "--set", "images.max_bytes_per_key=1m") as service:
        session = create(service)
        reply = service.post(session + "/checkpoints")
        assert reply.status == 507 and "images.max_bytes_per_key" in reply.error["message"], reply
        assert service.request("PATCH", session, {"undo": 2}).status == 200
        cell = execute(service, session, "x = 1; x")
        assert cell["status"] == "ok" and any("is not kept" in n and "max_bytes_per_key" in n
                                              for n in cell["notes"]), cell
        full = create(service, undo=1)
        value(service, full, "x = bytearray(140 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1")
        cell = execute(service, full, "len(x)")
        assert cell["status"] == "ok" and any("room" in n for n in cell["notes"]), cell
        assert images(service) == []


def test_a_keeper_that_is_killed_leaves_checkpoints_whole(service):
    """CHECKPOINT-1, STORED-1: at random moments of a stream of checkpoints, cells and rollbacks."""
    session = create(service, undo=2, limits={"memory": "1g"})
    value(service, session, "x = 0; pad = bytearray(8 << 20)")
    answered = [checkpoint(service, session, name="first")["id"]]
    stop = threading.Event()

    def work():
        while not stop.is_set():
            try:
                reply = service.post(session + "/checkpoints", {})
                if reply.status == 201:
                    answered.append(reply.json["id"])
                    if len(answered) > 4:
                        service.delete(f"{session}/checkpoints/{answered.pop(1)}")
                service.post(session + "/exec", {"code": "x += 1"})
                service.post(session + "/undo")
            except (OSError, ValueError, AssertionError):
                pass
    for n in range(5):
        thread = threading.Thread(target=work)
        thread.start()
        eventually(lambda: False, 0.05 + 0.13 * n)
        stop_at = len(answered)
        kill_keeper(service)
        stop.set()
        thread.join(60)
        stop.clear()
        assert stop_at
        kept = {c["id"] for c in checkpoints(service, session)}
        assert set(answered) <= kept

        def all_are_whole():
            listed, files = {c["id"] for c in checkpoints(service, session)}, images(service)
            return listed <= set(files) and not [f for f in files if "." in f]  # the other files are bases
        assert eventually(all_are_whole), images(service)
        assert service.request("PATCH", session, {"undo": 0}).status == 200  # the cells here would remove the others
        for c in checkpoints(service, session):
            assert roll_back(service, session, c["id"])["to"]["id"] == c["id"]
            assert value(service, session, "x >= 0, len(pad)") == f"(True, {8 << 20})"
        roll_back(service, session, "first")
        assert value(service, session, "x") == "0"
        assert service.request("PATCH", session, {"undo": 2}).status == 200


def test_no_checkpoint_comes_or_goes_without_its_record(service):
    session = create(service)
    value(service, session, "x = 1")
    kept = checkpoint(service, session, name="kept")
    with fails_to_record(service, "session.checkpoint"):
        refused = service.post(f"{session}/checkpoints", {"name": "other"})
        assert refused.status == 500, refused
        assert [c["name"] for c in checkpoints(service, session)] == ["kept"]
        assert eventually(lambda: images(service) == [kept["id"]]), images(service)
    with fails_to_record(service, "session.checkpoint_deleted"):
        assert service.delete(f"{session}/checkpoints/kept").status == 500
    assert [c["name"] for c in checkpoints(service, session)] == ["kept"]
    assert service.delete(f"{session}/checkpoints/kept").status == 200 and checkpoints(service, session) == []
    assert value(service, session, "x") == "1"
