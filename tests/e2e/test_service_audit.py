"""The audit log proves: every row of the history is as its newest record says, and sealed records stay (R7.5)."""

import hashlib
import os
import re
import signal
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


def seals_of(s):
    return (s.state / "audit.seals").read_text().count("\nseal ")


def key_of(s):
    """The secret of the next seal. The file has two places; one is empty."""
    key = (s.state / "audit.key").read_bytes()
    assert key.count(b"BLJRKEY2") == 1
    return key.split(b"BLJRKEY2")[1][8:40]


def verify(s, *options):
    result = s.cli("audit", "verify", *options)
    return result.status, result.out.decode()


@pytest.fixture(scope="module")
def stopped():
    """A service that did all that and was stopped; each test damages a copy of its database."""
    with Service(*ROOMY) as s:
        assert eventually(lambda: seals_of(s) == 1, 20)
        busy(s)
        s.stop()  # with a second seal
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


# ---- seals ----


def digest(*values):
    """store/digest.h, written down a second time."""
    def part(v):
        return (v.to_bytes(8, "big") if isinstance(v, int) else v.encode() if isinstance(v, str) else v)

    return hashlib.blake2b(b"".join(len(part(v)).to_bytes(8, "big") + part(v) for v in values), digest_size=32).digest()


def rewrite_chain(database):
    """Makes the hashes anew, as the owner of the database can."""
    db = sqlite3.connect(database)
    before = bytes(32)
    for row in db.execute("SELECT seq, time_ms, kind, subject, actor, detail FROM audit ORDER BY seq").fetchall():
        before = digest(before, *row)
        db.execute("UPDATE audit SET hash = ? WHERE seq = ?", (before, row[0]))
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def test_sealed_log_cannot_be_rewritten(stopped, damaged):
    """S3: the hashes have no key, so the owner of the database makes new ones. The seals tell."""
    rewrite_chain(stopped.database)
    assert verify(stopped)[0] == 0, "the chain of this test is not that of the service"
    damaged("UPDATE audit SET actor = 'key:alice' WHERE seq = 3")
    rewrite_chain(stopped.database)
    status, said = verify(stopped)
    assert status == 1 and re.search(r"record \d+ breaks the chain: .* is not the one that was sealed", said), said


@pytest.mark.parametrize("statement", ["DELETE FROM audit", "DELETE FROM audit WHERE seq > 2",
                                       "DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)"])
def test_sealed_log_cannot_be_cut_off(stopped, damaged, statement):
    damaged(statement)
    status, said = verify(stopped)
    assert status == 1 and re.search(r"record \d+ was sealed and is missing", said), said


def test_seals_cannot_be_replaced(stopped):
    """By anybody: the key of the first seal was noted elsewhere, and earlier keys are gone."""
    seals = stopped.state / "audit.seals"
    kept = seals.read_text()
    key = kept.split()[1]
    assert verify(stopped, "--key", key)[0] == 0
    other = "0" * 63 + "1"
    assert verify(stopped, "--key", other)[0] == 1 and stopped.cli("audit", "verify", "--key", "x").status == 64
    try:
        lines = kept.splitlines(keepends=True)
        for forged in (kept.replace("seal 0 ", "seal 1 ", 1), "".join(lines[:2] + lines[3:]), kept.replace(key, other)):
            seals.write_text(forged)
            status, said = verify(stopped)
            assert status == 1 and "of the seals does not follow" in said, said
        seals.unlink()
        status, said = verify(stopped)
        assert status == 1 and "audit.seals is missing" in said, said
    finally:
        seals.write_text(kept)
    assert verify(stopped)[0] == 0


def memory_has(pid, secret):
    found = False
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            where, mode = line.split()[:2]
            start, end = (int(x, 16) for x in where.split("-"))
            if not mode.startswith("rw") or end - start > 64 << 20:
                continue
            try:
                memory.seek(start)
                found = found or secret in memory.read(end - start)
            except OSError:
                continue
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="reads the memory of other processes")
def test_no_other_process_has_the_key_of_the_seals(start_service):
    """The supervisor has it alone, and forgets it with each seal. Only the operator writes seals."""
    s = start_service("--set", "audit.seal_every=1s")
    first = key_of(s)
    assert len(first) == 32
    for seals in (1, 2):
        assert eventually(lambda: seals_of(s) >= seals, 20)
        s.run("print(1)")
    now = key_of(s)
    assert now != first and not memory_has(s.pid, first), "the former key is still there"
    assert memory_has(s.pid, now), "the test does not find the key where it is"
    for name in ("keeper", "warden"):
        assert not memory_has(s.half(name).pid, now), name
    seals, key, data = (os.stat(s.state / n) for n in ("audit.seals", "audit.key", "data"))
    assert (seals.st_uid, seals.st_mode & 0o777) == (0, 0o644) and (key.st_uid, key.st_mode & 0o777) == (0, 0o600)
    assert data.st_uid != 0 and os.stat(s.state).st_uid == 0 and os.stat(s.state).st_mode & 0o22 == 0


def test_records_after_the_last_seal_are_told():
    """The keeper was killed between a record and its seal: nothing is wrong, and nothing is proven."""
    with Service(*ROOMY, "--set", "audit.seal_every=1h") as s:
        assert eventually(lambda: seals_of(s) == 1, 20)
        s.run("print(1)")
        keeper = s.half("keeper").pid
        os.kill(s.pid, signal.SIGSTOP)  # so that no new keeper seals before the log is verified
        try:
            os.kill(keeper, signal.SIGKILL)
            status, said = verify(s)
        finally:
            os.kill(s.pid, signal.SIGCONT)
        assert status == 0 and re.search(r" [1-9]\d* records after the last seal", said), said
        assert eventually(lambda: s.half("keeper").pid != keeper, 20)
        assert eventually(lambda: " 0 records after the last seal" in verify(s)[1], 20), "the next keeper goes on"


def test_sealed_range_is_checked_elsewhere(stopped, tmp_path):
    """Without the database, with the key alone."""
    key = (stopped.state / "audit.seals").read_text().split()[1]
    whole, part = tmp_path / "whole", tmp_path / "part"
    assert stopped.cli("audit", "export", str(whole)).status == 0
    assert stopped.cli("audit", "export", "--from", "3", "--to", "6", str(part)).status == 0
    assert stopped.cli("audit", "export", "--to", "100000", str(tmp_path / "more")).status == 125
    assert stopped.cli("audit", "export", str(part)).status == 125, "a file that exists is not written over"
    for file, first in ((whole, 1), (part, 3)):
        status, said = verify(stopped, "--file", str(file), "--key", key)
        assert status == 0 and f"records {first} to " in said, said
        assert verify(stopped, "--file", str(file), "--key", "0" * 64)[0] == 1
    lines = part.read_text().splitlines(keepends=True)
    records = [i for i, line in enumerate(lines) if '"seq"' in line]
    changed = lines[records[1]].replace('"actor":"', '"actor":"x')
    for bad in (lines[:records[1]] + [changed] + lines[records[1] + 1:], lines[:records[1]] + lines[records[1] + 1:],
                lines[:-1], [line for line in lines if '"seals"' not in line], lines[1:]):
        part.write_text("".join(bad))
        status, said = verify(stopped, "--file", str(part))
        assert status == 1 and said, said


def test_export_beyond_the_seal_is_refused(stopped, tmp_path):
    """With a sentence, and without a file."""
    sealed = int((stopped.state / "audit.seals").read_text().splitlines()[-1].split()[2])
    for options in (["--from", str(sealed + 1)], ["--from", str(sealed + 9), "--to", str(sealed + 10)],
                    ["--to", str(sealed + 1)], ["--from", "3", "--to", "2"]):
        refused = stopped.cli("audit", "export", *options, str(tmp_path / "none"))
        assert refused.status == 125 and not (tmp_path / "none").exists(), options
        told = b"is behind" if options[-1] == "2" else f"records 1 to {sealed} can be exported".encode()
        assert told in refused.err, refused.err
    last = tmp_path / "last"
    assert stopped.cli("audit", "export", "--from", str(sealed), str(last)).status == 0
    assert f"records {sealed} to {sealed} are as" in verify(stopped, "--file", str(last))[1]


# ---- a bounded log ----


def log_size(s):
    db = sqlite3.connect(f"file:{s.database}?mode=ro", uri=True)
    size, = db.execute("SELECT sum(length(kind || subject || actor || detail) + 64) FROM audit").fetchone()
    db.close()
    return size


@pytest.fixture(scope="module")
def bounded():
    """A service whose log was larger than its bound, after it was stopped. An early run and an early key exist."""
    with Service(*ROOMY, "--set", "audit.max_bytes=16k", "--set", "audit.seal_every=1s") as s:
        s.run("print('early')")
        s.add_key("early", "run")
        for _ in range(60):
            made = s.post("/api/artifacts/create", {"content": "x", "title": "t", "language": "python"}, unix=True).json
            assert s.delete(f"/api/artifacts/{made['id']}", unix=True).status == 204
        assert eventually(lambda: "were removed" in verify(s)[1] and log_size(s) < 16384, 60), verify(s)
        s.stop()
        yield s


@pytest.fixture
def owned(bounded):
    """A connection of the owner of the database, which is as before after the test."""
    kept = bounded.database.read_bytes()
    db = sqlite3.connect(bounded.database, isolation_level=None)
    yield db
    db.close()
    for name in ("belljar.db-wal", "belljar.db-shm"):
        (bounded.data / name).unlink(missing_ok=True)
    bounded.database.write_bytes(kept)


def removed_to(said):
    return int(re.search(r"records 1 to (\d+) were removed, .* exceeded audit.max_bytes=16384", said).group(1))


def test_audit_log_is_bounded(bounded, tmp_path):
    """On the disk, and the rest verifies; rows keep their records; a range from the first record on can be exported."""
    key = (bounded.state / "audit.seals").read_text().split()[1]
    status, said = verify(bounded, "--key", key)
    first = removed_to(said) + 1
    assert status == 0 and " 0 records after the last seal" in said and first > 20, said
    db = sqlite3.connect(f"file:{bounded.database}?mode=ro", uri=True)
    oldest, = db.execute("SELECT min(seq) FROM audit").fetchone()
    kinds = {kind for kind, in db.execute("SELECT kind FROM audit")}
    db.close()
    assert log_size(bounded) < 16384 + 1024  # with the records of the end
    assert oldest == first and {"audit.removed", "run.finished.kept", "key.added.kept"} <= kinds
    assert bounded.cli("audit", "export", str(tmp_path / "rest")).status == 0
    status, said = verify(bounded, "--file", str(tmp_path / "rest"), "--key", key)
    assert status == 0 and f"records {first} to " in said, said
    refused = bounded.cli("audit", "export", "--from", "1", str(tmp_path / "gone"))
    assert refused.status == 125 and f"the log begins with record {first}".encode() in refused.err
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("statement, told", [
    ("UPDATE keys SET scopes = 'admin'", "key 'early' was changed"),
    ("UPDATE run_input SET code = 'print(2)'", "run 'run_.*' was changed"),
    ("INSERT INTO keys SELECT 'mine', x'01', 'admin', 0, 1", "key 'mine' has no record"),
    ("DELETE FROM audit WHERE seq = (SELECT min(seq) FROM audit)", r"record \d+ is missing"),
    ("DELETE FROM audit WHERE kind = 'audit.removed'", r"record \d+ is missing"),
])
def test_bounded_audit_log_shows_every_change(bounded, owned, statement, told):
    assert owned.execute(statement).rowcount > 0
    status, said = verify(bounded)
    assert status == 1 and re.search(told, said), said


def append(db, kind, subject, detail):
    """A record with the right hash, which the owner of the database can make."""
    seq, before = db.execute("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
    row = (seq + 1, 1, kind, subject, "service", detail)
    db.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, digest(before, *row)))


def forge_removal(db, to, sealed):
    oldest, = db.execute("SELECT min(seq) FROM audit").fetchone()
    head, = db.execute("SELECT hash FROM audit WHERE seq = ?", (to,)).fetchone()
    copies = db.execute("SELECT kind, subject, detail FROM audit WHERE kind LIKE '%.kept' AND seq <= ?", (to,))
    copies = copies.fetchall()
    db.execute("DELETE FROM audit WHERE seq <= ?", (to,))
    for copy in copies:
        append(db, *copy)
    append(db, "audit.removed", "", f'{{"from":{oldest},"to":{to},"sealed":{sealed},"bytes":1,"max_bytes":16384,'
           f'"digests_from_ms":1,"head":"{head.hex()}"}}')


def test_a_forged_removal_is_told_and_ends_at_a_seal(bounded, owned):
    """The owner of the database can remove the oldest records, too: verify names them. Later records are as sealed."""
    last, = owned.execute("SELECT max(seq) FROM audit").fetchone()
    oldest, = owned.execute("SELECT min(seq) FROM audit").fetchone()
    append(owned, "x", "", "{}")
    append(owned, "x", "", "{}")
    owned.execute("BEGIN")
    forge_removal(owned, oldest + 2, last)  # the last record was sealed at the end
    status, said = verify(bounded)
    owned.execute("COMMIT")
    assert status == 0 and removed_to(said) == oldest - 1, said
    status, said = verify(bounded)
    assert status == 0 and removed_to(said) == oldest + 2, said
    owned.execute("BEGIN")
    forge_removal(owned, last + 1, last + 1)
    owned.execute("COMMIT")
    status, said = verify(bounded)
    assert status == 1 and "but they were not sealed" in said, said


def test_a_bounded_log_cannot_be_rewritten(bounded, owned):
    """Hashes that are made anew from the removed records on do not lead to the sealed ones."""
    removals = owned.execute("SELECT detail FROM audit WHERE kind = 'audit.removed' ORDER BY seq").fetchall()
    before = bytes.fromhex(re.search(r'"head":"(\w+)"', removals[-1][0]).group(1))
    owned.execute("UPDATE audit SET actor = 'key:alice' WHERE seq = (SELECT min(seq) FROM audit)")
    for row in owned.execute("SELECT seq, time_ms, kind, subject, actor, detail FROM audit ORDER BY seq").fetchall():
        before = digest(before, *row)
        owned.execute("UPDATE audit SET hash = ? WHERE seq = ?", (before, row[0]))
    status, said = verify(bounded)
    assert status == 1 and "is not the one that was sealed" in said, said


def test_audit_records_have_a_maximum_age():
    """A log of yesterday: its records go soon after they are sealed again, and the rest verifies."""
    with Service(*ROOMY, "--set", "audit.seal_every=1s") as s:
        s.run("print('early')")
        s.stop()
        db = sqlite3.connect(s.database)
        early, = db.execute("SELECT max(seq) FROM audit").fetchone()
        db.execute("UPDATE audit SET time_ms = time_ms - 86400000")
        db.commit()
        db.close()
        rewrite_chain(s.database)
        for name in ("audit.key", "audit.seals"):
            (s.state / name).unlink()  # the operator begins anew; this test is the attacker
        s.options += ["--set", "audit.max_age=1h"]
        s.start()
        told = r"records 1 to (\d+) were removed, .* older than audit.max_age=3600000ms"
        assert eventually(lambda: re.search(told, verify(s)[1]), 30), verify(s)
        status, said = verify(s)
        assert status == 0 and int(re.search(told, said).group(1)) == early, said


def test_audit_log_can_be_read_and_checked_over_http(start_service):
    """The chain and the rows; the seals are outside the keeper's reach."""
    s = start_service()
    run_id = s.run("print(1)")["id"]
    page = s.get("/v1/audit?limit=2").json
    assert [r["seq"] for r in page["records"]] == [page["head"], page["head"] - 1]
    assert page["records"][0]["subject"] == run_id and page["records"][0]["kind"] == "run.finished"
    older = s.get(f"/v1/audit?cursor={page['next_cursor']}").json
    assert older["records"][0]["seq"] == page["head"] - 2 and older["records"][-1]["seq"] == 1
    assert older["next_cursor"] is None
    check = s.post("/v1/audit/verify").json
    assert check["holds"] and check["records"] == page["head"] and check["rows"] >= 1 and check["broken_seq"] is None
    assert check["head"] == page["records"][0]["hash"]
    run_key = s.post("/v1/keys", {"name": "run", "scopes": ["run", "read"]}).json["key"]
    assert s.get("/v1/audit", key=run_key).status == 403 and s.post("/v1/audit/verify", key=run_key).status == 403
    with sqlite3.connect(s.database) as db:
        db.execute("UPDATE runs SET verdict = 'timeout' WHERE id = ?", (run_id,))
    broken = s.post("/v1/audit/verify", unix=True).json
    assert not broken["holds"] and broken["broken_seq"] > 0 and broken["problem"], broken
