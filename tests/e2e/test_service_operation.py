"""Operating it: start, SIGHUP, SIGTERM, a keeper or warden that dies, the audit log, the commands beside it (R7.4,
R7.5, R4.5)."""

import json
import os
import re
import shutil
import signal
import sqlite3
import threading
import time
from contextlib import closing

import pytest

from harness import PATIENCE, eventually
from hostview import descendants, process
from service import ROOMY, Service, in_threads, since, sleeper


@pytest.fixture
def configured():
    s = Service()
    s.config = s.scratch / "config"
    s.options = ["--config", str(s.config)]
    s.config.write_text("# a comment\nruns.max = 3\n\nlimits.wall_ms = 5s\n")
    with s:
        yield s


# ---- starting and stopping ----


def test_service_stops_at_once_when_idle(fresh_service):
    start = time.monotonic()
    fresh_service.stop()
    assert since(start) < 5 * PATIENCE


def test_service_sigterm_answers_what_runs_first(fresh_service):
    s = fresh_service
    answers = []
    client = threading.Thread(target=lambda: answers.append(s.post("/v1/runs",
                                                                   {"language": "python", "code": sleeper(2)})))
    client.start()
    assert eventually(lambda: s.get("/v1/stats").json["now"]["running"] == 1)
    s.stop()
    client.join(30)
    assert answers and (answers[0].status, answers[0].json["stdout"]) == (200, "go\nwoke\n"), answers


def test_service_refuses_new_work_while_it_drains(fresh_service):
    s = fresh_service
    s.run(sleeper(5), wait=False, status=202)
    assert eventually(lambda: s.get("/v1/stats").json["now"]["running"] == 1)
    s.drain()
    try:
        reply = s.post("/v1/runs", {"language": "python", "code": "print(1)"}, within=5)
        assert reply.status == 503, reply
    except OSError:
        pass  # it does not even listen any more
    assert s.popen.wait(30 * PATIENCE) == 0


def test_service_ctrl_c_is_a_stop_like_any_other(fresh_service):
    """The terminal signals the whole process group, every process of the service among it."""
    s = fresh_service
    answers = []
    client = threading.Thread(target=lambda: answers.append(s.post("/v1/runs",
                                                                   {"language": "python", "code": sleeper(1)})))
    client.start()
    assert eventually(lambda: s.get("/v1/stats").json["now"]["running"] == 1)
    os.killpg(s.pid, signal.SIGINT)
    assert s.popen.wait(30 * PATIENCE) == 0
    client.join(30)
    assert answers and answers[0].json["stdout"] == "go\nwoke\n"


def test_service_second_signal_ends_it_now(fresh_service):
    s = fresh_service
    s.run(sleeper(60), wait=False, status=202)
    assert eventually(lambda: s.get("/v1/stats").json["now"]["running"] == 1)
    start = time.monotonic()
    s.drain()
    s.signal(signal.SIGTERM)
    s.popen.wait(30 * PATIENCE)
    assert since(start) < 20 * PATIENCE


def test_service_state_is_one_services_alone(fresh_service):
    other = Service(state=fresh_service.state)
    try:
        other.start(wait=False)
        assert other.popen.wait(30) not in (0, None)
        assert str(fresh_service.pid) in other.log() and str(fresh_service.state) in other.log(), other.log()
    finally:
        other.end()
    assert fresh_service.healthy()


def test_service_port_in_use_is_a_clear_error(fresh_service):
    other = Service(listen=(f"127.0.0.1:{fresh_service.port}",))
    try:
        other.start(wait=False)
        assert other.popen.wait(30) not in (0, None)
        assert f"127.0.0.1:{fresh_service.port}" in other.log(), other.log()
    finally:
        other.end()


def test_service_takes_its_address_from_the_environment(fresh_service):
    """SANDBOX_HOST and SANDBOX_PORT, as /execute's clients set them; this one is taken, so that nothing is bound."""
    other = Service(listen=(), environ={"SANDBOX_HOST": "127.0.0.1", "SANDBOX_PORT": str(fresh_service.port)})
    try:
        other.start(wait=False)
        assert other.popen.wait(30) not in (0, None)
        assert f"127.0.0.1:{fresh_service.port}" in other.log() and "SANDBOX_PORT" in other.log(), other.log()
    finally:
        other.end()


def test_service_debug_logs_requests(start_service):
    """R8.8: DEBUG=1"""
    s = start_service(environ={"DEBUG": "1"})
    s.get("/v1/health")
    assert s.logged(" debug http.request", "/v1/health")
    quiet = start_service()
    quiet.get("/v1/health")
    assert not quiet.logged(" debug ", within=0.3)


@pytest.mark.parametrize("listen", ["", "nonsense", "127.0.0.1", "127.0.0.1:99999", "example.org:80", "unix:",
                                    "127.0.0.1:-1", "[::1"])
def test_service_nonsense_to_listen_on(listen):
    s = Service(listen=(listen,))
    try:
        s.start(wait=False)
        assert s.popen.wait(30) not in (0, None) and "--listen" in s.log(), s.log()
    finally:
        s.end()


def test_service_listens_in_several_places(public_path, start_service):
    s = start_service(*ROOMY, listen=("127.0.0.1:0", "127.0.0.1:0", f"unix:{public_path}/other.sock"))
    assert len(s.ports) == 2 and s.ports[0] != s.ports[1]
    s.ports.reverse()
    assert s.healthy() and (public_path / "other.sock").exists()
    s.stop()
    assert not (public_path / "other.sock").exists() and not s.socket_path.exists()


def test_service_nothing_is_left_when_it_is_killed(host):
    s = Service(*ROOMY)
    try:
        s.start()
        s.run(sleeper(100), wait=False, status=202)
        assert eventually(lambda: s.get("/v1/stats").json["now"]["running"] == 1)
        below = [p.pid for p in descendants(s.pid)]
        assert below
        s.popen.kill()
        s.popen.wait(10)
        # Our own parent may adopt them and reap them late: a dead process counts as gone.
        assert eventually(lambda: not [p for p in map(process, below) if p and p.state != "Z"]), below
    finally:
        s.end()


@pytest.mark.parametrize("name", ["keeper", "warden"])
def test_service_gets_over_the_death_of_either_half(fresh_service, name):
    """The supervisor restarts a process that died. The runs of that time are ended, and later runs work."""
    s = fresh_service
    before = s.half(name)
    os.kill(before.pid, signal.SIGKILL)

    def works():
        try:
            return s.post("/v1/runs", {"language": "python", "code": "print('back')"}, within=10).status == 200
        except OSError:
            return False

    assert s.logged(f"{name}.died") and eventually(works, 20, step=0.2), s.log()[-3000:]
    assert s.half(name).pid != before.pid
    assert s.popen.poll() is None and s.run("print(1)")["stdout"] == "1\n"


def newer_schema(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 9999")


@pytest.mark.parametrize("damage, words", [
    (lambda path: path.write_bytes(b"garbage" * 1000), "not a database"), (newer_schema, "9999"),
    (lambda path: os.truncate(path, 5000), "damaged"),
], ids=["garbage", "newer", "torn"])
def test_service_database_that_cannot_be_used_is_no_start(fresh_service, damage, words):
    s = fresh_service
    s.stop()
    damage(s.database)
    before = s.database.read_bytes()
    s.start(wait=False)
    assert s.popen.wait(30) not in (0, None)
    assert str(s.database) in s.log() and words in s.log() and s.database.read_bytes() == before, s.log()


# ---- SIGHUP ----


def test_service_sighup_applies_a_changed_config(configured):
    s = configured
    assert s.run("pass")["limits"]["wall_ms"] == 5000
    s.config.write_text("runs.max = 3\nlimits.wall_ms = 7s\n")
    s.signal(signal.SIGHUP)
    assert eventually(lambda: s.run("pass")["limits"]["wall_ms"] == 7000)


@pytest.mark.parametrize("text, words", [("runs.mx = 3\n", "runs.mx"), ("limits.wall_ms = never\n", "limits.wall_ms"),
                                         ("nonsense\n", "config")])
def test_service_sighup_refuses_a_broken_config_whole(configured, text, words):
    s = configured
    s.config.write_text("limits.wall_ms = 8s\n" + text)
    s.signal(signal.SIGHUP)
    assert s.logged("2", words), s.log()
    assert s.run("pass")["limits"]["wall_ms"] == 5000


def test_service_broken_config_is_no_start():
    s = Service()
    config = s.scratch / "config"
    config.write_text("runs.max = 1\nruns.max = x\n")
    s.options = ["--config", str(config)]
    try:
        s.start(wait=False)
        assert s.popen.wait(30) not in (0, None)
        assert str(config) in s.log() and "2" in s.log() and "runs.max" in s.log(), s.log()
    finally:
        s.end()


# ---- the audit log ----


def audited(s):
    s.run("print(1)")
    s.run("1 / 0")
    s.add_key("k", "admin")
    result = s.cli("audit", "verify")
    assert result.status == 0, result
    said = r"(\d+) records, chain holds, \d+ rows match, head ([0-9a-f]{64})\n\d+ seals hold, .*\n"
    return re.fullmatch(said, result.out.decode()).groups()


def test_audit_log_verifies(fresh_service):
    """R7.5"""
    records, head = audited(fresh_service)
    assert int(records) >= 6
    shown = fresh_service.cli("audit", "show", "-n", "1000").out.decode()
    for kind in ("service.started", "run.accepted", "run.finished", "key.added"):
        assert kind in shown, shown
    assert fresh_service.cli("audit", "verify", "--head", head).status in (0, 1)


@pytest.mark.parametrize("damage, named", [
    ("UPDATE audit SET detail = replace(detail, '{', '{ ') WHERE seq = 3", 3),
    ("UPDATE audit SET actor = 'nobody' WHERE seq = 2", 2),
    ("UPDATE audit SET time_ms = time_ms + 1 WHERE seq = 4", 4), ("DELETE FROM audit WHERE seq = 3", None),
    ("UPDATE audit SET subject = 'x' WHERE seq = 1", 1), ("UPDATE audit SET seq = seq + 100 WHERE seq = 4", None),
], ids=lambda v: v.split(" WHERE")[0] if isinstance(v, str) else None)
def test_audit_log_shows_every_change(fresh_service, damage, named):
    """R7.5: tamper-evident"""
    s = fresh_service
    audited(s)
    s.stop()
    with sqlite3.connect(s.database) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f'DROP TRIGGER "{name}"')  # anybody who may write the file may do that, too
        assert db.execute(damage).rowcount == 1
    result = s.cli("audit", "verify")
    assert result.status == 1 and b"breaks the chain" in result.out, result
    if named:
        assert f"record {named} " in result.out.decode(), result


def test_audit_log_that_was_cut_shows_against_its_head(fresh_service):
    s = fresh_service
    audited(s)
    s.stop()
    head = re.search(r"[0-9a-f]{64}", s.cli("audit", "verify").out.decode()).group(0)
    assert s.cli("audit", "verify", "--head", head).status == 0
    with sqlite3.connect(s.database) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f'DROP TRIGGER "{name}"')
        db.execute("DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)")
    (s.state / "audit.seals").write_text((s.state / "audit.seals").read_text().splitlines()[0] + "\n")
    assert s.cli("audit", "verify").status == 0 and s.cli("audit", "verify", "--head", head).status == 1


# ---- the history command ----


def test_history_lists_what_the_service_ran(fresh_service):
    """R7.4"""
    s = fresh_service
    made = [s.run(f"print('run {i}')") for i in range(3)] + [s.run("1 / 0")]
    listed = json.loads(s.cli("history", "--json").out)
    assert [r["id"] for r in listed] == [r["id"] for r in reversed(made)]
    assert [r["id"]
            for r in json.loads(s.cli("history", "--json", "--verdict", "runtime_error").out)] == [made[3]["id"]]
    assert len(json.loads(s.cli("history", "--json", "-n", "2").out)) == 2
    text = s.cli("history").out.decode()
    assert all(r["id"] in text for r in made) and "runtime_error" in text
    one = s.cli("history", made[1]["id"]).out.decode()
    assert "run 1" in one and made[1]["id"] in one
    s.stop()
    assert [r["id"] for r in json.loads(s.cli("history", "--json").out)] == [r["id"] for r in reversed(made)]


def test_history_of_nothing_and_nonsense(fresh_service):
    s = fresh_service
    assert json.loads(s.cli("history", "--json").out) == []
    for args in (["--verdict", "fine"], ["--since", "yesterday"], ["-n", "0"], ["run_none"], ["--language", "cobol"]):
        result = s.cli("history", *args)
        assert result.status != 0 and result.out == b"" and args[-1] in result.message, result


def test_history_output_cannot_drive_the_terminal(fresh_service):
    s = fresh_service
    r = s.run("print('\\x1b]0;evil\\x07')", thread_id="t\u001b[31m")
    for args in ([], [r["id"]]):
        result = s.cli("history", *args)
        assert result.status == 0 and b"\x1b" not in result.out and b"\x07" not in result.out, result


def test_old_history_is_removed(start_service):
    s = start_service("--set", "history.max_bytes=1m")
    ids = [s.run("print('x' * 400000)")["id"] for _ in range(5)]
    gone = eventually(lambda: s.get(f"/v1/runs/{ids[0]}").status == 404, 20, step=0.5)
    if not gone:
        s.restart()
        gone = eventually(lambda: s.get(f"/v1/runs/{ids[0]}").status == 404, 20, step=0.5)
    assert gone and s.get(f"/v1/runs/{ids[-1]}").status == 200


@pytest.mark.parametrize("files", [64, 256, 512, 1023])
def test_service_with_too_few_descriptors_does_not_start(files):
    s = Service(prefix=["prlimit", f"--nofile={files}:{files}"])
    s.start(wait=False)
    try:
        assert s.popen.wait(30 * PATIENCE) != 0
        assert f"may have {files} open files" in s.log() and "ulimit -Hn" in s.log(), s.log()
    finally:
        if s.popen.poll() is None:
            s.popen.kill()
        shutil.rmtree(s.scratch)


def test_service_with_few_descriptors_has_fewer_connections_and_runs():
    with Service(*ROOMY, prefix=["prlimit", "--nofile=1024:1024"]) as s:
        assert s.logged("settings.lowered", "http.max_connections")
        held = [s.connect() for _ in range(600)]
        try:
            assert in_threads([lambda i=i: s.run(f"print({i})")["stdout"] for i in range(8)]) == [
                f"{i}\n" for i in range(8)]
        finally:
            for c in held:
                c.close()
