"""The audit log proves: every row of the history is as its newest record says (R7.5)."""

import re
import sqlite3

import pytest

from harness import eventually
from service import ROOMY, Service


def busy(s):
    """A bit of everything that leaves a record."""
    s.run("print(1)")
    s.run("print('x' * 400_000)", limits={"output": "1m"})  # its output is a file
    rule = s.post("/v1/rules", {"action": "deny", "match": "contains", "text": "NEVER"})
    assert rule.status == 201, rule
    for decision, fields in (("approve", {"remember": "exact"}), ("reject", {"reason": "no"}),
                             ("edit", {"edited_input": "print('edited')"})):
        run = s.run(f"print('{decision}')", wait=False, status=202, thread_id=decision, permission_mode="default")
        [a] = eventually(lambda: s.get("/v1/approvals", {"thread_id": decision}).json["approvals"])
        assert s.post(f"/v1/approvals/{a['id']}", {"decision": decision, **fields}).status == 200
        s.finished(run["id"])
    made = s.post("/api/artifacts/create", {"content": "print(1)", "title": "t", "language": "python"}).json
    assert s.put(f"/api/artifacts/{made['id']}", {"content": "print(2)"}).status == 200
    gone = s.post("/api/artifacts/create", {"content": "x", "title": "t", "language": "python"}).json
    assert s.delete(f"/api/artifacts/{gone['id']}").status == 204
    s.add_key("first", "run")
    s.add_key("gone", "run")
    assert s.cli("keys", "remove", "gone").status == 0


def verify(s, *options):
    result = s.cli("audit", "verify", *options)
    return result.status, result.out.decode()


@pytest.fixture(scope="module")
def stopped():
    """A service that did all that and was stopped; each test damages a copy of its database."""
    with Service(*ROOMY) as s:
        busy(s)
        s.stop()
        yield s


@pytest.fixture
def damaged(stopped):
    """A function that runs statements on the database, which is as before after the test."""
    kept = stopped.database.read_bytes()

    def damage(*statements):
        db = sqlite3.connect(stopped.database)
        for statement in statements:
            assert db.execute(statement).rowcount > 0, statement
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()

    yield damage
    for name in ("belljar.db-wal", "belljar.db-shm"):
        (stopped.data / name).unlink(missing_ok=True)
    stopped.database.write_bytes(kept)


def test_audit_log_matches_the_history(stopped):
    status, said = verify(stopped)
    assert status == 0 and int(re.search(r"(\d+) rows match", said).group(1)) >= 12, said


@pytest.mark.parametrize("statement, told", [
    ("UPDATE run_input SET code = 'print(2)' WHERE code = 'print(1)'", "run 'run_.*' was changed"),
    ("UPDATE run_input SET request = replace(request, '1', '2') WHERE code = 'print(1)'", "run 'run_.*' was changed"),
    ("UPDATE run_input SET code = 'print(1)' WHERE code LIKE '%edited%'", "run 'run_.*' was changed"),
    ("UPDATE run_output SET result = replace(result, 'ok', 'OK') WHERE seq = 1", "run 'run_.*' was changed"),
    ("UPDATE run_output SET journal = x'00' WHERE seq = 1", "run 'run_.*' was changed"),
    ("UPDATE runs SET verdict = 'timeout' WHERE seq = 1", "run 'run_.*' was changed"),
    ("UPDATE runs SET api_key = 'another' WHERE seq = 1", "run 'run_.*' was changed"),
    ("DELETE FROM runs WHERE seq = 1", "run 'run_.*' is missing, and no record says that it was removed"),
    ("UPDATE approvals SET decision = 'approve' WHERE decision = 'reject'", "approval 'apr_.*' was changed"),
    ("UPDATE approvals SET input = replace(input, 'edit', 'other') WHERE decision = 'edit'", "approval 'apr_.*' was"),
    ("UPDATE approvals SET edited_input = '\"x\"' WHERE decision = 'edit'", "approval 'apr_.*' was changed"),
    ("UPDATE rules SET text = 'other' WHERE action = 'deny'", "rule 'rul_.*' was changed"),
    ("UPDATE rules SET requester = NULL WHERE action = 'allow'", "rule 'rul_.*' was changed"),
    ("DELETE FROM rules WHERE action = 'deny'", "rule 'rul_.*' is missing"),
    ("UPDATE keys SET scopes = 'admin' WHERE name = 'first'", "key 'first' was changed"),
    ("INSERT INTO keys SELECT 'gone', x'01', 'admin', 0, 1", "key 'gone' is there, and this record says"),
    ("INSERT INTO keys SELECT 'mine', x'01', 'admin', 0, 1", "key 'mine' has no record"),
    ("INSERT INTO runs (id, state, created_ms, bytes) VALUES ('run_mine', 'finished', 1, 1)", "run 'run_mine' has no"),
    ("UPDATE artifact_versions SET content = 'evil' WHERE version = 2", "artifact 'art_.*' was changed"),
])
def test_audit_log_finds_a_row_that_was_changed(stopped, damaged, statement, told):
    """By the owner of the database, who leaves the log itself alone."""
    damaged(statement)
    status, said = verify(stopped)
    assert status == 1 and re.search(r"record \d+ does not match the history: " + told, said), said


def test_audit_log_finds_an_output_file_that_was_changed(stopped):
    [file] = list((stopped.data / "output").iterdir())
    kept = file.read_bytes()
    try:
        file.write_bytes(kept.replace(b"x", b"y", 1))
        assert verify(stopped)[0] == 1
        file.unlink()
        status, said = verify(stopped)
        assert status == 1 and "the output file of run" in said, said
    finally:
        file.write_bytes(kept)
    assert verify(stopped)[0] == 0


def test_audit_log_knows_the_runs_that_retention_removed(start_service):
    s = start_service("--set", "history.max_bytes=1m")
    runs = [s.run(f"print('{'x' * 300_000}', {i})")["id"] for i in range(6)]
    assert eventually(lambda: s.get(f"/v1/runs/{runs[0]}").status == 404, 30)
    status, said = verify(s)
    assert status == 0, said
    assert "history.removed" in s.cli("audit", "show", "-n", "100").out.decode()
