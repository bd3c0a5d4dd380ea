"""The state of a service outlives its disk and its version: `belljar backup` while it runs, `belljar restore`, and
databases that earlier versions wrote (tests/data/states)."""

import json
import shutil
import sqlite3
import tarfile
import threading
from pathlib import Path

import pytest

import harness
from harness import PATIENCE, REPO
from service import ROOMY, Service
from sessions import create, execute, sleep, value

STATES = REPO / "tests/data/states"
FOR_EVER = ("--set", "history.max_age=36500d")  # the rows of the test data are old
EXECUTE = {"timeout": 10, "language": "python"}
PARTS = {"audit.key", "audit.seals", "data", "execute"}


@pytest.fixture(scope="module")
def place():
    return harness.public_dir()


def at(state):
    """A service with the directory of /execute in its state, as without a setting."""
    s = Service(*ROOMY, state=state)
    s.environ["OUTPUT_DATA_PATH"] = str(state / "execute")
    return s


@pytest.fixture(scope="module")
def original(place):
    """A service with a bit of everything, which is copied while clients use it. Yields it with
    the things that it had before."""
    with at(place / "original") as s:
        had = {"runs": {}, "acked": []}
        for code in ("print(6 * 7)", "1 / 0", "print('x' * 400_000)"):
            r = s.run(code)
            had["runs"][r["id"]] = (r["verdict"], r["stdout"])
        made = s.post("/api/artifacts/create", {"content": "print(1)", "title": "t", "language": "python"}).json
        assert s.put(f"/api/artifacts/{made['id']}", {"content": "print(2)"}).status == 200
        had["artifact"] = made["id"]
        had["waiting"] = s.run("print(1)", wait=False, status=202, thread_id="t", permission_mode="default")["id"]
        had["session"] = create(s)
        execute(s, had["session"], "kept = [1, 2, 3]")
        sleep(s, had["session"])
        write = {**EXECUTE, "generated_code": "open('left.txt', 'w').write('left')"}
        assert s.post("/execute", write).json["process_status"] == "completed"
        had["backup"] = place / "backup"
        load(s, had)
        had["key"] = s.add_key("team", "run,read,approve")
        yield s, had


def load(s, had):
    """Clients go on while the state is copied. Every run that was answered before the copy began is in it."""
    stop = threading.Event()

    def client():
        while not stop.is_set():
            had["acked"].append(s.run("print('y' * 300_000)", wait=True)["id"])

    clients = [threading.Thread(target=client) for _ in range(2)]
    for c in clients:
        c.start()
    try:
        assert harness.eventually(lambda: len(had["acked"]) >= 4, 20)
        before = list(had["acked"])
        done = s.cli("backup", str(had["backup"]))
        had["answered_meanwhile"] = len(had["acked"]) - len(before)
    finally:
        stop.set()
        for c in clients:
            c.join(30 * PATIENCE)
    assert done.status == 0 and not done.err, done
    had["acked"] = before
    assert {p.name for p in had["backup"].iterdir()} <= PARTS


def test_a_backup_of_a_busy_service_is_one_state(original):
    s, had = original
    done = s.cli("audit", "verify", "--state", str(had["backup"]))
    assert done.status == 0 and b"chain holds" in done.out, done
    listed = s.cli("history", "-n", "1000", "--json", "--state", str(had["backup"]))
    ids = {run["id"] for run in json.loads(listed.out)}
    assert set(had["acked"]) | set(had["runs"]) <= ids
    # The key was made after the copy: the copy does not know it.
    assert b"team" not in s.cli("keys", "list", "--state", str(had["backup"])).out
    # Nobody else can read it.
    for name in ("data", "audit.key"):
        assert (had["backup"] / name).stat().st_mode & 0o077 == 0


def test_a_restored_service_has_everything_that_the_backup_has(original, place):
    s, had = original
    with at(place / "restored") as t:
        t.stop()
        refused = t.cli("restore", str(had["backup"]))
        assert refused.status == 125 and b"--replace sets it aside" in refused.err, refused
        done = t.cli("restore", "--replace", str(had["backup"]))
        assert done.status == 0 and b"the earlier state is in" in done.out, done
        [aside] = t.state.glob("replaced-*")
        assert (aside / "data/belljar.db").exists() and not (t.state / "restore.partial").exists()
        t.start()
        for run, (verdict, stdout) in had["runs"].items():
            r = t.get(f"/v1/runs/{run}").json
            assert (r["verdict"], r["stdout"]) == (verdict, stdout)
        for run in had["acked"]:
            assert t.get(f"/v1/runs/{run}").json["stdout"] == "y" * 300_000 + "\n"
        versions = t.get(f"/api/artifacts/{had['artifact']}/versions").json
        assert [v["content"] for v in versions] == ["print(1)", "print(2)"]
        assert t.get(f"/v1/runs/{had['waiting']}").json["state"] == "waiting"
        assert value(t, had["session"], "kept") == "[1, 2, 3]"
        read = {**EXECUTE, "generated_code": "print(open('left.txt').read())"}
        assert t.post("/execute", read).json["stdout"] == "left\n"
        t.stop()  # with a seal
        said = t.cli("audit", "verify")
        assert said.status == 0 and b" 0 records after the last seal" in said.out, said
        assert b"state.restored" in t.cli("audit", "show", "-n", "1000").out


def test_a_restore_onto_a_running_service_is_refused(original):
    s, had = original
    refused = s.cli("restore", "--replace", str(had["backup"]))
    assert refused.status == 125 and f"the service with pid {s.pid} uses".encode() in refused.err, refused
    assert s.run("print(1)", key=had["key"])["verdict"] == "ok" and not list(s.state.glob("replaced-*"))


def damage_header(place):
    with open(place / "data/belljar.db", "r+b") as f:
        f.write(b"not a database at all")


def cut_off(place):
    path = place / "data/belljar.db"
    with open(path, "r+b") as f:
        f.truncate(path.stat().st_size // 2)


def forge_a_result(place):
    db = sqlite3.connect(place / "data/belljar.db")
    assert db.execute("UPDATE run_output SET result = replace(result, '\"ok\"', '\"timeout\"')").rowcount > 0
    db.commit()
    db.close()


@pytest.mark.parametrize("change, words", [
    (damage_header, "not a database"), (cut_off, "is damaged"), (forge_a_result, "does not hold"),
    (lambda p: (p / "data/belljar.db").unlink(), "is no backup"),
    (lambda p: (p / "audit.seals").write_text("key 00\n"), "line 1 of the seals"),
], ids=["header", "half", "forged", "empty", "seals"])
def test_a_backup_that_does_not_hold_is_refused_and_nothing_changes(original, change, words):
    s, had = original
    place = harness.public_dir()
    shutil.copytree(had["backup"], place / "copy")
    change(place / "copy")
    refused = s.cli("restore", "--state", str(place / "new"), str(place / "copy"))
    assert refused.status == 125 and words in refused.err.decode() and refused.err.count(b"\n") == 1, refused
    assert words == "is no backup" or f"nothing was restored from '{place}/copy'" in refused.err.decode()
    left = {p.name for p in (place / "new").iterdir()} if (place / "new").exists() else set()
    assert left <= {"lock", "keeper"}, left


def test_places_that_are_no_place_for_a_backup_are_refused(original, place):
    s, had = original
    for args, words in (((str(had["backup"]),), "exists: name a new directory"), ((), "name a new directory"),
                        ((str(place / "no/such/place"),), "No such file or directory"),
                        ((str(place / "x"), "--state", str(place / "nothing")), "there is no state of a service")):
        refused = s.cli("backup", *args)
        assert refused.status in (64, 125) and words in refused.err.decode() and refused.err.count(b"\n") == 1, refused
    assert not (place / "x").exists() and not (place / "x.partial").exists()


# ---- databases of earlier versions ----

@pytest.fixture(params=sorted(p.name for p in STATES.glob("*.tar.xz")))
def old(request):
    state = harness.public_dir() / "state"
    state.mkdir(0o711)
    with tarfile.open(STATES / request.param) as packed:
        packed.extractall(state)  # ours: no name in it leaves the directory
    (state / "data").chmod(0o700)
    return state


def rows_of(database):
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    tables = ("runs", "run_input", "run_output", "approvals", "rules", "artifacts", "artifact_versions", "keys",
              "audit")
    rows = {t: db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables}
    version = db.execute("PRAGMA user_version").fetchone()[0]
    db.close()
    return version, rows


def check_old(s, facts):
    """Everything that a client of that version left is there."""
    key = facts["key"]
    for name, verdict, stdout in (("ok", "ok", "42\n"), ("failed", "runtime_error", ""),
                                  ("of_key", "ok", "with a key\n"), ("large", "ok", "x" * 300_000 + "\n"),
                                  ("decided_run", "ok", "approved\n")):
        r = s.get(f"/v1/runs/{facts[name]}", key=key).json
        assert (r["verdict"], r["stdout"]) == (verdict, stdout), (name, r)
    assert len(s.get(f"/v1/batches/{facts['batch']}", key=key).json["results"]) == 2
    found = s.get(f"/api/artifacts/{facts['artifact']}/versions", key=key).json
    assert [(v["title"], v["content"]) for v in found] == [("First", "print(1)"), ("Second", "print(2)")]
    decisions = {a["id"]: a["decision"] for a in s.get("/v1/approvals", key=key).json["approvals"]}
    assert decisions[facts["decided"]] == "approve" and facts["pending"] in decisions
    assert facts["rule"] in {r["id"] for r in s.get("/v1/rules", key=key).json["rules"]}
    assert s.run("echo forbidden", language="bash", key=key)["verdict"] == "rejected"
    assert s.run("print(1)", key=key)["stdout"] == "1\n"
    assert s.post("/v1/runs", {"language": "python", "code": "1"}).status == 401
    if "session" in facts:
        assert s.get(f"/v1/sessions/{facts['session']}/cells", key=key).status == 200


def test_a_database_of_an_earlier_version_is_brought_up_to_date_and_loses_nothing(old):
    version, before = rows_of(old / "data/belljar.db")
    facts = json.loads((old / "facts.json").read_text())
    s = Service(*FOR_EVER, state=old)
    # A command that only reads does not change it.
    refused = s.cli("history")
    assert refused.status == 125 and b"'belljar serve' updates it" in refused.err, refused
    assert refused.err.count(b"\n") == 1 and rows_of(old / "data/belljar.db") == (version, before)
    with s:
        check_old(s, facts)
        s.stop()
        now, after = rows_of(s.database)
        assert now > version
        assert all(after[t] >= n for t, n in before.items()), (before, after)
        assert s.cli("audit", "verify").status == 0


def test_a_backup_of_an_earlier_version_is_restored(old):
    """Its state directory, copied while nothing ran, is a backup."""
    with Service(*FOR_EVER) as s:
        s.stop()
        done = s.cli("restore", "--replace", str(old))
        assert done.status == 0 and (b"no seals" in done.err) != (old / "audit.seals").exists(), done
        s.start()
        check_old(s, json.loads((old / "facts.json").read_text()))


def test_backup_of_a_state_that_lacks_a_file_says_so_and_fails(place):
    with at(place / "lacking") as s:
        sleep(s, create(s))
        lost = [p for p in (s.data / "images").iterdir() if p.is_file()]
        assert lost
        for path in lost:
            path.unlink()
        done = s.cli("backup", str(place / "lacking-backup"))
        assert done.status == 1 and b"that the database names are not in the state" in done.err, done
        assert (place / "lacking-backup/data/belljar.db").is_file()
