"""Requests about sessions, for the tests of cells, forks, checkpoints and sleep. A session is named by its id or by its
path below /v1. Each function asserts that its request succeeds; a test of a refusal asks the service itself.

    session = create(service)
    assert value(service, fork(service, session)["sessions"][0]["id"], "1 + 1") == "2"
"""
import contextlib
import os
import signal
import sqlite3

from harness import eventually
from hostview import descendants

PATIENCE = 60


def place(session):
    return session if session.startswith("/") else f"/v1/sessions/{session}"


def asked(service, session, word, fields, status):
    reply = service.post(f"{place(session)}/{word}", fields)
    assert reply.status == status, reply
    return reply.json


def create(service, language="python", **fields):
    """The id of a new session."""
    reply = service.post("/v1/sessions", {"language": language, **fields})
    assert reply.status == 201, reply
    return reply.json["id"]


def execute(service, session, code, **fields):
    """The answer of a cell, also if the cell fails."""
    return asked(service, session, "exec", {"code": code, **fields}, 200)


def value(service, session, code):
    """The result of a cell as text; None if it has no result."""
    cell = execute(service, session, code)
    assert cell["status"] == "ok", cell
    return cell["result"]["text/plain"] if cell["result"] else None


def output(service, session, code):
    """stdout of a cell."""
    cell = execute(service, session, code)
    assert cell["status"] == "ok", cell
    return cell["stdout"]


def rows(service, session, code):
    """The last table of a cell of SQL."""
    cell = execute(service, session, code)
    assert cell["status"] == "ok", cell
    return cell["result"]["application/json"]["rows"] if cell["result"] else None


def fork(service, session, **fields):
    return asked(service, session, "fork", fields, 201)


def copies_of(service, session, **fields):
    return [s["id"] for s in fork(service, session, **fields)["sessions"]]


def checkpoint(service, session, **fields):
    return asked(service, session, "checkpoints", fields, 201)


def checkpoints(service, session):
    reply = service.get(place(session) + "/checkpoints")
    assert reply.status == 200, reply
    return reply.json["checkpoints"]


def roll_back(service, session, to):
    return asked(service, session, "rollback", {"to": to}, 200)


def sleep(service, session, **fields):
    asleep = asked(service, session, "sleep", fields, 200)
    assert asleep["state"] == "sleeping", asleep
    return asleep


def wake(service, session, **fields):
    return asked(service, session, "wake", fields, 200)


def look(service, session):
    return service.get(place(session)).json


def end(service, session):
    reply = service.delete(place(session))
    assert reply.status == 200, reply


def open_sessions(service):
    return {s["id"] for s in service.get("/v1/sessions").json["sessions"]}


def end_sessions(service, but=()):
    for name in open_sessions(service) - set(but):
        service.delete(place(name))


def images(service):
    """The files of images on the disk."""
    return sorted(os.listdir(service.data / "images"))


def kill_keeper(service):
    """Until the next one serves."""
    keeper = service.half("keeper").pid
    os.kill(keeper, signal.SIGKILL)
    assert eventually(lambda: service.reachable() and service.half("keeper").pid != keeper, PATIENCE)


def is_dead(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def kill_everything(service):
    """The service with all its processes, as a crash of the machine would end it. The supervisor is stopped first, so
    that it starts no others meanwhile."""
    os.kill(service.pid, signal.SIGSTOP)

    def kill_the_others():
        alive = [p.pid for p in descendants(service.pid) if not is_dead(p.pid)]
        for pid in alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return not alive
    assert eventually(kill_the_others, PATIENCE)
    os.kill(service.pid, signal.SIGKILL)
    service.popen.wait(30)


@contextlib.contextmanager
def fails_to_record(service, kind):
    """Meanwhile the audit log takes no record of this kind."""
    def change(statement):
        with contextlib.closing(sqlite3.connect(service.data / "belljar.db", timeout=60, isolation_level=None)) as db:
            db.execute(statement)
    with contextlib.closing(sqlite3.connect(service.data / "belljar.db", timeout=60)) as db:
        [(last,)] = db.execute("SELECT max(seq) FROM audit").fetchall()
    # The database has no triggers. The entry of such a record in this index is a number that does not exist.
    change(f"CREATE INDEX no_record ON audit (CASE WHEN kind = '{kind}' AND seq > {last} "
           "THEN abs(-9223372036854775807 - 1) END)")
    try:
        yield
    finally:
        change("DROP INDEX no_record")
