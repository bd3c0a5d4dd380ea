"""Sessions of the languages other than Python, in jars of a service, from pools where there are any."""
import json
import re
import subprocess
import threading

import pytest

import warm
from cells import groups
from harness import eventually
from service import Service
from sql import prepare, server_outside


@pytest.fixture(scope="module")
def service():
    with Service("--set", "runs.max=8", "--set", "pools.preload=used") as s:
        yield s


class Session:
    def __init__(self, service, language, **fields):
        self.service = service
        reply = service.post("/v1/sessions", {"language": language, **fields})
        assert reply.status == 201, reply
        self.path = f"/v1/sessions/{reply.json['id']}"

    def run(self, code, **fields):
        reply = self.service.post(f"{self.path}/exec", {"code": code, **fields})
        assert reply.status == 200, reply
        return reply.json

    def interrupted(self, code):
        """The reply of a cell that is interrupted while it runs."""
        replies = []
        thread = threading.Thread(target=lambda: replies.append(self.run(code)))
        thread.start()
        while thread.is_alive():
            self.service.post(f"{self.path}/interrupt", {})
            thread.join(0.2)
        return replies[0]

    def end(self):
        self.service.delete(self.path)


@pytest.fixture(params=["javascript", "typescript", "bash", "sqlite"])
def session(request, service):
    s = Session(service, request.param)
    s.language = request.param
    yield s
    s.end()


STATE = {  # a cell that keeps something, one that shows it, its text; an error and its name; a cell without an end
    "javascript": ("const x = {a: [1]}", "x", "{ a: [ 1 ] }", "null.y", "TypeError", "for (;;);"),
    "typescript": ("let x: number[] = [1, 2]", "x", "[ 1, 2 ]", "x.y.z", "TypeError",
                   "await new Promise<void>(() => {})"),
    "bash": ("x=5; cd /tmp", "echo $x $PWD", "5 /tmp\n", "(exit 3)", "exit status", "sleep 1000"),
    "sqlite": ("CREATE TABLE t (x); INSERT INTO t VALUES (7)", "SELECT x FROM t", "7", "SELECT nope", "SQLITE_ERROR",
               "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"),
}


def test_state_errors_and_interrupts_in_a_jar(session):
    keep, show, text, wrong, name, endless = STATE[session.language]
    assert session.run(keep)["status"] == "ok"
    shown = session.run(show)
    said = shown["stdout"] if session.language == "bash" else shown["result"]["text/plain"]
    assert text in said, shown
    failed = session.run(wrong)
    assert (failed["status"], failed["error"]["name"]) == ("error", name), failed
    stopped = session.interrupted(endless)
    assert stopped["status"] == "interrupted", stopped
    again = session.run(show)
    assert text in (again["stdout"] if session.language == "bash" else again["result"]["text/plain"]), again


def test_a_timeout_of_a_cell_leaves_the_state_in_a_jar(session):
    keep, show, text, _, _, endless = STATE[session.language]
    session.run(keep)
    assert session.run(endless, timeout=1)["verdict"] == "timeout"
    again = session.run(show)
    assert text in (again["stdout"] if session.language == "bash" else again["result"]["text/plain"]), again


@pytest.mark.parametrize("language, kind", [("javascript", "node-session"), ("typescript", "typescript-session")])
def test_sessions_of_node_start_from_a_pool(service, language, kind):
    Session(service, language).end()  # the first one boots the zygote
    if warm.pools(service)[kind]["zygote"] == "failed":
        pytest.skip(f"no zygote for this Node: {warm.pools(service)[kind]['why']}")
    eventually(lambda: warm.pools(service)[kind]["ready"] > 0, within=60)
    session = Session(service, language)
    booted = session.run("fs.readFileSync('/proc/self/cmdline', 'utf8').includes('main.js')")  # as the zygote was
    assert booted["result"]["text/plain"] == "true", booted
    again = Session(service, language)
    assert session.run("Math.random()")["result"] != again.run("Math.random()")["result"]
    for s in (session, again):
        s.end()


MARK = "\x01"


def of_psql(psql, cells):
    """[(output, [SQLSTATE, message] of the error or None)] of each cell, from one psql."""
    script = "\\pset null NULL\n\\set VERBOSITY verbose\n"
    script += "".join(f"\\echo {MARK}\n\\warn {MARK}\n{code}\n;\n" for code in cells)
    done = subprocess.run(psql, input=script, capture_output=True, text=True, timeout=120,
                          env={"PGCLIENTENCODING": "UTF8"})
    assert done.returncode == 0, done
    outs, errs = done.stdout.split(f"{MARK}\n")[1:], done.stderr.split(f"{MARK}\n")[1:]
    errors = [re.search(r"^(?:psql:.*?: )?ERROR:  (\w{5}): (.*)$", err, re.M) for err in errs]
    return [(out, error and list(error.groups())) for out, error in zip(outs, errors, strict=True)]


def lines(text):
    """The words of each line. The heads of our columns stand elsewhere, and no tag follows the rows of RETURNING."""
    words = [line.split() for line in text.splitlines() if line.strip("-+ ")]
    return words[:-1] if len(words) > 1 and words[-1][0] in ("INSERT", "UPDATE", "DELETE") else words


def test_cells_of_postgres_mean_the_same_as_in_psql(service):
    prepare()
    with server_outside() as psql:
        expected = {name: of_psql(psql, cells) for name, cells in groups("postgres.cells")}
    wrong = []
    for name, cells in groups("postgres.cells"):
        session = Session(service, "postgres", limits={"memory": 512 << 20})
        try:
            for code, (out, error) in zip(cells, expected[name], strict=True):
                reply = session.service.post(f"{session.path}/exec", {"code": code, "stream": True})
                events = [json.loads(line) for line in reply.body.decode().splitlines()]
                shown = "".join(e["data"] if e["event"] == "stdout" else e["data"]["text/plain"] for e in events
                                if e["event"] in ("stdout", "display", "result"))
                failed = next(([e["name"], e["message"]] for e in events if e["event"] == "error"), None)
                if (lines(shown), failed) != (lines(out), error):
                    wrong.append((code, lines(shown), failed, "psql:", lines(out), error))
        finally:
            session.end()
    assert not wrong, "\n".join(map(str, wrong))


def test_cells_of_postgres_in_a_jar(service):
    prepare()
    session = Session(service, "postgres", limits={"memory": 512 << 20})
    try:
        table = session.run("SELECT 1 AS one, 'x' AS two")["result"]["application/json"]
        assert table["columns"] == [{"name": "one", "type": "integer"}, {"name": "two", "type": "text"}], table
        session.run("ROLLBACK; CREATE TABLE seen_here (id int NOT NULL, name text)")
        path = session.path + "/inspect"
        table = service.post(path, {"code": "seen_here"}).json
        assert table["found"] and table["text"] == "table seen_here\n  id integer not null\n  name text", table
        function = service.post(path, {"code": "SELECT pg_sleep(1)", "cursor": 9}).json
        assert "function pg_sleep(double precision) returns void" in function["text"], function
        assert not service.post(path, {"code": "nothing_of_this_name"}).json["found"]
        assert session.interrupted("SELECT pg_sleep(1000)")["status"] == "interrupted"
        assert session.run("DO $$ BEGIN RAISE NOTICE 'seen'; END $$")["stderr"].endswith("NOTICE:  seen\n")
    finally:
        session.end()
