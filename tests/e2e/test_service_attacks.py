"""Attacks on the service by its callers: a caller with a key, a caller that leaves, a caller that sends too much."""

import os
import re
import select
import shutil
import socket
import threading
import time
from pathlib import Path

import pytest

import harness
from harness import PATIENCE, eventually, public_dir
from service import ROOMY, Service, sleeper


@pytest.fixture(scope="module")
def keyed():
    with Service(*ROOMY) as s:
        s.keys = {name: s.add_key(name, scopes) for name,
                  scopes in (("one", "run,read"), ("two", "run,read"), ("boss", "admin"))}
        assert eventually(lambda: s.get("/v1/runs", key=s.keys["boss"]).status == 200
                          and s.get("/v1/runs").status == 401)
        yield s


# ---- a caller with a key ----


def test_attack_key_that_sees_a_run_cannot_end_or_feed_it(keyed):
    """Scope `read` shows another key's runs; with `run` beside it, it is no right to change them."""
    run_id = keyed.run("print(input())", key=keyed.keys["one"], wait=False, status=202, stdin_open=True)["id"]
    assert keyed.get(f"/v1/runs/{run_id}", key=keyed.keys["two"]).status == 200
    assert keyed.post(f"/v1/runs/{run_id}/stdin", {"data": "forged\n", "eof": True},
                      key=keyed.keys["two"]).status == 403
    assert keyed.delete(f"/v1/runs/{run_id}", key=keyed.keys["two"]).status == 403
    assert keyed.post(f"/v1/runs/{run_id}/stdin", {"data": "own\n", "eof": True}, key=keyed.keys["one"]).status == 202
    assert keyed.finished(run_id, key=keyed.keys["one"])["stdout"] == "own\n"
    run_id = keyed.run(sleeper(60), key=keyed.keys["one"], wait=False, status=202)["id"]
    assert keyed.delete(f"/v1/runs/{run_id}", key=keyed.keys["boss"]).status == 202


# ---- stopping ----

ASKING = {
    "/execute": {"generated_code": "print(1)", "timeout": 5, "language": "python"},
    "/v1/runs": {"language": "python", "code": "print(1)"},
    "/v1/batches": {"runs": [{"language": "python", "code": "print(1)"}]},
    "/v1/comparisons": {"variants": [{"language": "python", "code": "print(1)"},
                                     {"language": "bash", "code": "echo 1"}]},
}


def pending(s):
    return s.get("/v1/approvals", {"decision": "pending"}).json["approvals"]


@pytest.mark.parametrize("path", [*ASKING, "/api/artifacts/{}/execute"])
def test_attack_stop_while_it_waits_is_no_success_and_no_decision(path):
    """A run that waits for an approval when the service stops did not end well, and nobody decided on it."""
    with Service(*ROOMY, "--set", "approvals.mode=default") as s:
        made = s.post("/api/artifacts/create", {"content": "print(1)", "title": "t", "language": "python"}).json["id"]
        replies = []
        client = threading.Thread(target=lambda: replies.append(s.post(path.format(made), ASKING.get(path, {}))))
        client.start()
        # As many as there are programs in it: each is asked for by itself.
        assert eventually(lambda: len(pending(s)) == len(ASKING.get(path, {}).get("variants", [1]))), pending(s)
        asked = [a["id"] for a in pending(s)]
        s.restart()
        client.join(10)
        assert replies and (replies[0].status == 503 or b"still waits for its approval" in replies[0].body), replies
        assert b'"ok":1' not in replies[0].body and b'"same_output":true' not in replies[0].body, replies
        assert [a["id"] for a in pending(s)] == asked
        for a in asked:
            assert s.post(f"/v1/approvals/{a}", {"decision": "approve"}).status == 200


# ---- a caller that fills the disk ----


def test_attack_nothing_runs_on_unrecorded(as_root):
    """The disk is full: a run that the audit log cannot have is ended, and the answer says why."""
    place = public_dir()
    mount = "mount -t tmpfs -o size=12m,mode=755 none {0} && exec \"$@\"".format(place)
    with Service(*ROOMY, "--set", "storage.min_free=0", state=place / "state",
                 prefix=["unshare", "-m", "sh", "-c", mount, "sh"]) as s:
        inside = Path(f"/proc/{s.pid}/root{place}")
        assert s.run("print(1)")["verdict"] == "ok"
        with open(inside / "fill", "wb") as f:
            with pytest.raises(OSError):
                while True:
                    os.write(f.fileno(), bytes(65536))
        start = time.monotonic()
        reply = s.post("/v1/runs", {"language": "python", "code": sleeper(100) + "#" * 200000,
                                    "limits": {"wall_ms": "2m"}}, within=120)
        assert reply.status == 500 and "disk is full" in reply.error["message"], reply
        assert time.monotonic() - start < 50
        os.unlink(inside / "fill")
        assert s.run("print(2)")["verdict"] == "ok"
    shutil.rmtree(place, ignore_errors=True)


# ---- callers that share a directory ----


def test_attack_calls_at_a_time_cannot_fill_the_directory_for_all(fresh_service):
    """Each keeps less than the bound; together they would leave a directory that no call is given any more."""
    s = fresh_service
    code = "import os, time\ntime.sleep(1)\nfor n in range(3): open(f'f{}-{{n}}', 'wb').write(os.urandom(14 << 20))"
    calls = [threading.Thread(target=s.post, args=("/execute", {"generated_code": code.format(i), "timeout": 20}))
             for i in range(4)]
    for c in calls:
        c.start()
    for c in calls:
        c.join()
    reply = s.post("/execute", {"generated_code": "print('alive')", "timeout": 10})
    assert reply.status == 200 and reply.json["stdout"] == "alive\n", reply


# ---- a caller that sends too much ----


@pytest.mark.parametrize("path", ["/v1/runs", "/execute"])
def test_attack_small_body_of_many_values_is_refused(service, path):
    """2 MB of `{},` would be 200 MB of objects."""
    head = b'{"language": "python", "code": "1", "generated_code": "1", "timeout": 1, "metadata": ['
    body = head + b"{}," * 700000 + b"0]}"
    start = time.monotonic()
    reply = service.request("POST", path, body)
    assert reply.status == 400 and b"values" in reply.body, reply
    assert time.monotonic() - start < 5 * PATIENCE


MIB = 1 << 20
LARGE = "#" + "a" * (4 * MIB)


def keeper_mib(s):
    """Memory of the keeper now."""
    status = Path(f"/proc/{s.half('keeper').pid}/status").read_text()
    return int(re.search(r"^VmRSS:\s+(\d+) kB", status, re.M).group(1)) // 1024


def asks_and_does_not_read(s, path):
    c = socket.create_connection(("127.0.0.1", s.port))
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    c.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return c


def test_attack_readers_that_do_not_read_hold_no_memory(fresh_service):
    s = fresh_service
    made = s.run("import sys\nfor i in range(48): sys.stdout.write('x' * (1 << 20))", limits={"output": "64m"})
    before = keeper_mib(s)
    readers = [asks_and_does_not_read(s, f"/v1/runs/{made['id']}/stdout") for _ in range(20)]
    # Each has its first bytes, so the service is at work for all of them.
    assert eventually(lambda: len(select.select(readers, [], [], 0)[0]) == len(readers))
    assert keeper_mib(s) - before < 300, "20 clients that read nothing of 48 MiB"
    assert s.get(f"/v1/runs/{made['id']}/stdout").body == b"x" * (48 * MIB)
    for c in readers:
        c.close()
    assert s.healthy()


def test_attack_large_programs_that_wait_are_bounded_together(start_service):
    """Few enough to be counted, large enough to fill the memory."""
    s = start_service(*ROOMY, "--set", "runs.max_bytes=40m")
    statuses = [s.post("/v1/runs",
                       {"language": "python", "code": LARGE, "permission_mode": "default", "wait": False}).status
                for _ in range(6)]
    assert statuses[:2] == [202, 202] and statuses[-1] == 503, statuses
    for a in pending(s):
        assert s.post(f"/v1/approvals/{a['id']}", {"decision": "reject"}).status == 200
    assert eventually(lambda: s.post("/v1/runs", {"language": "python", "code": LARGE}).status == 200)


def test_attack_batch_of_large_programs_waits_for_room(start_service):
    s = start_service(*ROOMY, "--set", "runs.max_bytes=40m")
    reply = s.post("/v1/batches", {"run": {"language": "python", "code": LARGE + "\nprint(input())"}, "parallel": 16,
                                   "inputs": [{"stdin": str(i), "expected": str(i)} for i in range(12)]})
    assert reply.json["summary"]["passed"] == 12, reply


def test_attack_list_of_large_requests_comes_in_pages(start_service):
    s = start_service(*ROOMY)
    for _ in range(5):
        assert s.run(LARGE, permission_mode="default", wait=False, status=202)
    def walk():
        pages, cursor = [], None
        while cursor or not pages:
            page = s.get("/v1/approvals", {"decision": "pending", **({"cursor": cursor} if cursor else {})})
            assert len(page.body) < 20 * MIB
            pages.append([a["id"] for a in page.json["approvals"]])
            cursor = page.json["next_cursor"]
        return pages

    assert eventually(lambda: sum(map(len, walk())) == 5)
    pages = walk()
    seen = [a for page in pages for a in page]
    assert len(set(seen)) == len(seen) == 5 and len(pages) > 1
    for a in seen:
        s.post(f"/v1/approvals/{a}", {"decision": "reject"})


def test_attack_conversation_of_large_artifacts_is_refused(fresh_service):
    for _ in range(3):
        body = {"content": "x" * (28 * MIB), "title": "t", "language": "python", "conversation_id": "c"}
        assert fresh_service.post("/api/artifacts/create", body).status == 201
    reply = fresh_service.get("/api/artifacts/conversations/c/artifacts")
    assert reply.status == 413 and "one by one" in reply.json["detail"], reply


@pytest.mark.parametrize("fraction", [".92233720e16", ".1e400", ".5e18", ".-1"])
def test_attack_time_that_no_number_holds_is_refused(service, fraction):
    assert service.get("/v1/runs", {"since": f"2026-01-01T00:00:00{fraction}Z"}).status == 400
    assert service.get("/v1/runs", {"since": "2026-01-01T00:00:00.123456789Z"}).status == 200


# ---- an attacker that controls the keeper ----


def test_attack_keeper_cannot_make_root_write_elsewhere(as_root):
    """Commands of root open the database as its owner. A link in its place leads nowhere else."""
    data, victim = public_dir() / "state" / "data", public_dir() / "victim"
    data.mkdir(parents=True)
    os.chown(data, 0x70000000, 0x70000000)
    victim.touch(0o644)
    (data / "belljar.db").symlink_to(victim)
    for command in (["keys", "add", "x", "--scopes", "run"], ["keys", "list"], ["history"], ["audit", "verify"]):
        got = harness.belljar(*command, "--state", str(data.parent))
        assert got.status != 0, (command, got)
        assert victim.stat().st_size == 0 and [p.name for p in victim.parent.iterdir()] == ["victim"], command
    shutil.rmtree(data.parents[1])
    shutil.rmtree(victim.parent)


def test_attack_keeper_knows_nothing_of_the_operators_environment(as_root):
    with Service(*ROOMY, environ={"OPERATORS_SECRET": "s3cr3t"}) as s:
        assert b"s3cr3t" not in Path(f"/proc/{s.half('keeper').pid}/environ").read_bytes()
