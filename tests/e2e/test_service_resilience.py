"""Bad requests come in and processes die: the service answers, stays small, and leaves nothing behind."""

import json
import os
import random
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

import harness
from harness import PATIENCE, as_ordinary_user, eventually
from hostview import descendants
from service import ROOMY, Service, in_threads, sleeper, split_replies, versions_known

MIB = 1 << 20


def resident(s):
    """The memory of each process of the service, largest first. Interpreters that wait for work are not counted."""
    sizes = []
    for pid in [s.pid] + [p.pid for p in descendants(s.pid) if p.comm.startswith("belljar")]:
        try:
            with open(f"/proc/{pid}/statm") as f:
                sizes.append(int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE"))
        except OSError:
            continue
    return sorted(sizes, reverse=True)


@pytest.mark.release_only
def test_service_stays_small_while_much_is_printed(start_service):
    s = start_service(*ROOMY)
    s.run("print(1)")
    before = resident(s)[0]
    r = s.run("import sys\nfor _ in range(60): sys.stdout.write('x' * (1 << 20))",
              limits={"output": "64m", "wall_ms": "1m"})
    assert r["stdout_bytes"] == 60 * MIB
    assert resident(s)[0] - before < 16 * MIB, (before, resident(s))


@pytest.mark.release_only
def test_service_stays_small_when_nobody_reads(start_service):
    """A stream holds a bounded piece of the output that its client does not read."""
    s = start_service(*ROOMY)
    s.run("print(1)")
    before = resident(s)[0]
    body = json.dumps({"language": "python", "stream": True, "limits": {"output": "64m", "wall_ms": "1m"},
                       "code": "import sys\nfor _ in range(60): sys.stdout.write('x' * (1 << 20))"}).encode()
    head = b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    clients = [s.connect(30) for _ in range(4)]
    try:
        for c in clients:
            c.sendall(head % len(body) + body)
        done = lambda: s.get("/v1/stats").json["verdicts"].get("ok", 0)
        assert eventually(lambda: done() == 5, 60), s.get("/v1/stats").json
        assert resident(s)[0] - before < 32 * MIB, (before, resident(s))
    finally:
        for c in clients:
            c.close()
    assert s.run("print('well')")["stdout"] == "well\n"


@pytest.mark.release_only
def test_service_memory_comes_back(start_service):
    """No request leaves something behind."""
    s = start_service(*ROOMY)
    work = lambda: [s.run("print(1)"), s.post("/v1/runs", {"language": "cobol", "code": "x"}), s.get("/nothing"),
                    s.all_events(body={"language": "python", "code": "print(1)"}), s.raw(b"nonsense\r\n\r\n")]
    for _ in range(30):
        work()
    before = resident(s)[0]
    for _ in range(100):
        work()
    assert resident(s)[0] - before < 4 * MIB, (before, resident(s))
    connections = lambda: s.get("/v1/stats").json["http"]["connections"]
    assert eventually(lambda: connections() == 1), connections()


@pytest.mark.release_only
def test_service_descriptors_come_back(start_service):
    s = start_service(*ROOMY)
    descriptors = lambda: int(re.search(r"^belljar_process_open_fds (\d+)$", s.get("/metrics").body.decode(),
                                        re.M).group(1))
    s.run("print(1)")
    assert eventually(lambda: versions_known(s), 30)
    before = descriptors()
    for _ in range(20):
        s.all_events(body={"language": "python", "code": "print('x' * 2000000)"})
        s.post("/execute", {"generated_code": "open('x', 'w').write('1')", "timeout": 5})
        s.raw(b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n", half_close=True)
    assert eventually(lambda: descriptors() <= before), (before, descriptors())


def test_service_gets_over_a_want_of_descriptors(start_service):
    """More clients than the service has descriptors: it serves while they are there, and after them."""
    s = start_service(*ROOMY, "--set", "limits.open_files=64", prefix=["prlimit", "--nofile=1024:1024"])
    held = [s.connect() for _ in range(800)]
    assert s.run("print('meanwhile')")["stdout"] == "meanwhile\n"
    for c in held:
        c.close()
    assert eventually(s.reachable, 20) and s.run("print('well')")["stdout"] == "well\n"


def on_small_disk(size, *options):
    """A service whose state is on a file system of its own."""
    s = Service(*ROOMY, *options)
    s.state.mkdir(mode=0o755)
    mount = f'mount -t tmpfs -o size={size},mode=755 none {s.state} && exec "$@"'
    s.prefix = ["unshare", "-m", "sh", "-c", mount, "sh"]
    return s


def degraded(s, ask):
    """The answer of /v1/health after a request that fails."""
    ask()
    health = s.get("/v1/health")
    return health if health.status == 503 else None


def test_service_full_disk_is_told_and_runs_nothing(as_root):
    """A run that cannot be recorded does not start, and the message says that the disk is full."""
    with on_small_disk("3m", "--set", "storage.min_free=0") as s:
        body = {"language": "python", "code": "print('x' * 300000)"}
        replies = [s.post("/v1/runs", body) for _ in range(30)]
        assert {r.status for r in replies} <= {200, 500, 503, 507}, replies
        told = [r for r in replies if r.status != 200]
        assert told and all("disk is full" in r.error["message"] for r in told), told
        assert not [r for r in told if str(s.state).encode() in r.body], "an answer names a path of the server"
        large = {"language": "python", "code": "pass #" + "x" * 200000}
        health = eventually(lambda: degraded(s, lambda: s.post("/v1/runs", large)))
        assert health and "disk is full" in health.json["why"], health
        assert str(s.state) not in health.json["why"] and str(s.state) in s.log()
        assert s.get("/v1/runs").status == 200
        larger = ["mount", "-o", "remount,size=100m", str(s.state)]
        subprocess.run(["nsenter", "-t", str(s.pid), "-m", *larger], check=True)
        assert eventually(lambda: s.get("/v1/health").status == 200, 30), s.get("/v1/health")
        assert s.run("print('again')")["stdout"] == "again\n"


def test_service_refuses_new_work_below_the_floor_of_free_space(as_root):
    with on_small_disk("60m", "--set", "storage.min_free=20m") as s:
        program = {"language": "python", "code": "print(1)"}
        artifact = {"content": "x", "title": "t", "language": "python"}
        assert s.get("/v1/health").status == 200
        filler = Path(f"/proc/{s.pid}/root{s.state}/filler")
        filler.write_bytes(bytes(50 * MIB))
        assert eventually(lambda: s.get("/v1/health").status == 503)
        health = s.get("/v1/health").json
        assert health["status"] == "degraded" and "20m" in health["why"], health
        refused = s.post("/v1/runs", program)
        assert (refused.status, refused.error["code"]) == (507, "storage_full"), refused
        assert "storage.min_free" in refused.error["message"]
        assert s.post("/api/artifacts/create", artifact).status == 507
        assert s.post("/execute", {"generated_code": "print(1)", "language": "python", "timeout": 5}).status == 507
        assert s.get("/v1/runs").json["runs"] == []
        filler.unlink()
        assert eventually(lambda: s.get("/v1/health").status == 200)
        assert s.post("/v1/runs", program).status == 200
        assert s.post("/api/artifacts/create", artifact).status in (200, 201)


def test_service_tells_that_its_warden_was_stopped(start_service, as_root):
    """It is resumed at once, and runs go on; health tells it for a minute."""
    s = start_service(*ROOMY)
    assert s.get("/v1/health").json["status"] == "ok"
    os.kill(s.half("warden").pid, signal.SIGSTOP)
    health = eventually(lambda: s.get("/v1/health").json.get("why"))
    assert health and "was stopped by a signal" in health, s.get("/v1/health")
    assert s.get("/v1/health").status == 200 and s.run("print(1)")["stdout"] == "1\n"


def test_service_refuses_to_start_with_a_database_that_it_cannot_write():
    """With the name of the file, before a client is served."""
    with Service(*ROOMY) as s:
        s.run("print(1)")
        s.stop()
        os.chmod(s.database, 0o444)
        s.start(wait=False)
        assert s.popen.wait(30) != 0
        assert f"{s.database}: write: attempt to write a readonly database" in s.log(), s.log()
        for file in s.data.glob("belljar.db*"):  # its log may have got the same mode
            os.chmod(file, 0o644)
        s.start()
        assert len(s.get("/v1/runs").json["runs"]) == 1 and s.get("/v1/health").status == 200


def test_service_tells_that_its_database_is_damaged(start_service):
    """Also that the answers about it name no path of the server."""
    s = start_service(*ROOMY)
    s.run("print(1)")
    for name in ("belljar.db", "belljar.db-wal"):
        path = s.data / name
        with open(path, "r+b") as f:
            f.write(b"\xff" * path.stat().st_size)
    s.post("/v1/runs", {"language": "python", "code": "print(2)"})  # so that the readers look at the files again
    replies = []
    health = eventually(lambda: degraded(s, lambda: replies.append(s.get("/v1/runs"))))
    assert health and "database" in health.json["why"], health
    assert 500 in {r.status for r in replies}, replies
    assert not [r for r in [health, *replies] if str(s.state).encode() in r.body]
    assert str(s.state) in s.log()


VALID = [
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 38\r\n\r\n"
    b'{"language":"cobol","code":"print(1)"} ',
    b"GET /v1/runs?limit=5&session=a%20b HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n",
    b"POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    b'7\r\n{"a":1}\r\n0\r\n\r\n',
    b"DELETE /v1/runs/run_x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
]


def damaged(rng, data):
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data))
        kind = rng.randrange(4)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at : at + rng.randint(1, 8)]
        elif kind == 2:
            data[at:at] = rng.choice([b"\r\n", b"\0", b"\n", b" ", b":", b"%00", b"\xff\xfe", b"A" * 300, b"{", b"""\
\r
\r
"""])
        else:
            data[at:at] = data[max(0, at - rng.randint(1, 40)) : at]
        if not data:
            data = bytearray(b"x")
    return bytes(data)


def test_service_random_damage_is_never_a_crash(service):
    rng = random.Random(20260131)
    halves = lambda: {service.half(name).pid for name in ("keeper", "warden")}  # others come and go as pools do
    before = halves()
    for _ in range(1500):
        data = damaged(rng, rng.choice(VALID))
        for reply in split_replies(service.raw(data, half_close=True)):
            assert reply.status < 500 or reply.status in (501, 505), (data, reply)
    assert service.healthy() and halves() == before


JSON_PIECES = [None, True, 0, -1, 1.5, 1e308, "", "x", "\u0000", [], {}, [[]], {"a": {}}, "ü" * 100, 2**62, ["x"] * 20,
               {"x": "y"}]


def test_service_random_bodies_are_never_a_500(service):
    """Every field of every route with every kind of value."""
    rng = random.Random(7)
    document = service.get("/openapi.json").json
    for path, item in document["paths"].items():
        if "post" not in item or "requestBody" not in item["post"]:
            continue
        schema = item["post"]["requestBody"]["content"]["application/json"]["schema"]
        fields = list(schema.get("properties", {"x": 1}))
        target = path.replace("{id}", "none").replace("{name}", "none")
        for _ in range(60):
            body = {f: rng.choice(JSON_PIECES) for f in rng.sample(fields, rng.randint(1, min(4, len(fields))))}
            if path == "/v1/keys":
                body["scopes"] = ["nonsense"]  # a key that was made would shut everybody else out
            reply = service.post(target, body)
            assert reply.status < 500, (target, body, reply)
    assert service.healthy()


def test_service_runs_of_a_keeper_that_dies_end_and_its_warden_stays(fresh_service):
    """The jar of the run is gone, the same warden serves the next keeper, and the history tells of the run."""
    s = fresh_service
    run = s.post("/v1/runs", {"language": "bash", "code": "exec sleep 98765", "wait": False}).json
    sleeps = lambda: [p for p in descendants(s.pid) if p.comm == "sleep"]
    assert eventually(sleeps, PATIENCE)
    warden, keeper = s.half("warden").pid, s.half("keeper").pid
    os.kill(keeper, signal.SIGKILL)
    assert eventually(lambda: not sleeps(), PATIENCE)
    assert eventually(lambda: s.reachable() and s.half("keeper").pid != keeper, PATIENCE)
    assert s.half("warden").pid == warden
    assert s.run("echo next", language="bash")["stdout"] == "next\n"
    assert s.get(f"/v1/runs/{run['id']}").json["state"] == "interrupted"


def test_service_run_whose_warden_dies_is_told(fresh_service):
    """The run ends as internal_error, its client hears of it, and the next one works."""
    s = fresh_service
    answers = []
    client = threading.Thread(target=lambda: answers.append(s.post("/v1/runs",
                                                                   {"language": "python", "code": sleeper(100)})))
    client.start()
    assert eventually(lambda: s.get("/v1/stats").json["now"]["running"] == 1)
    os.kill(s.half("warden").pid, signal.SIGKILL)
    client.join(30)
    assert not client.is_alive()
    assert answers and answers[0].status in (200, 503), answers
    assert answers[0].status == 503 or answers[0].json["verdict"] == "internal_error", answers
    works = lambda: s.post("/v1/runs", {"language": "python", "code": "print('back')"})
    assert eventually(lambda: works().status == 200, 20, step=0.2)


@pytest.mark.parametrize("half", ["warden", "keeper"])
def test_service_half_that_is_stopped_goes_on(fresh_service, half):
    """Left alone, a stopped warden would end no run at its limit, and a stopped keeper would answer nobody."""
    s = fresh_service
    answers = []
    client = threading.Thread(target=lambda: answers.append(
        s.post("/v1/runs", {"language": "python", "code": sleeper(100), "limits": {"wall_ms": 4000}})))
    client.start()
    assert eventually(lambda: s.get("/v1/stats").json["now"]["running"] == 1)
    pid = s.half(half).pid
    os.kill(pid, signal.SIGSTOP)
    client.join(30)
    assert not client.is_alive() and answers[0].json["verdict"] == "timeout", answers
    assert s.half(half).pid == pid and s.logged(f" {half}.stopped pid={pid} signal={int(signal.SIGSTOP)} ")


def test_service_clients_that_come_and_go(service):
    """Half of them leave in the middle of a stream."""
    def stay():
        return len(service.all_events(body={"language": "python", "code": "for i in range(300): print(i, flush=True)"}))

    def leave():
        with service.events(body={"language": "python", "code": "for i in range(300): print(i, flush=True)"}) as events:
            for _ in range(3):
                next(events)
        return 0

    counts = in_threads([stay, leave] * 6)
    assert all(n > 3 for n in counts[::2])
    assert eventually(lambda: service.get("/v1/stats").json["now"] == {"running": 0, "queued": 0, "waiting": 0}, 20)


def test_service_of_an_ordinary_user(as_root, belljar_for_everybody):
    """R4.6: the same service, at the level that this user can have."""
    s = Service(*ROOMY, prefix=as_ordinary_user())
    s.scratch.chmod(0o777)
    s.environ.pop("HOME", None)
    with s:
        r = s.run("print('as a user')")
        assert (r["stdout"], r["isolation"]["level"]) == ("as a user\n", s.get("/v1/health").json["isolation"]["level"])
        assert r["isolation"]["level"] in ("rootless", "process")
        assert s.data.stat().st_uid == harness.ORDINARY_UID and s.data.stat().st_mode & 0o777 == 0o700
        assert s.socket_path.stat().st_uid == harness.ORDINARY_UID


def test_service_socket_is_closed_to_other_users(service, as_root):
    running = harness.Running(
        [*as_ordinary_user(), "/usr/bin/python3", "-c",
         """\
import socket, sys
s = socket.socket(socket.AF_UNIX)
try: s.connect(sys.argv[1])
except OSError as e: print(e.errno)""",
         str(service.socket_path)])
    with running:
        assert running.finish().out == b"13\n"


def test_service_logs_cannot_be_forged(service):
    """A client's words in the log stay on their line."""
    evil = "x%0a2026-01-01T00:00:00.000Z info service.forged a=b"
    service.get(f"/v1/runs/{evil.replace(' ', '%20')}")
    service.raw(b"GET /v1/x\x1b[31m HTTP/1.1\r\nHost: localhost\r\n\r\n")
    service.run("pass", thread_id="a\nservice.forged b")
    time.sleep(0.2 * PATIENCE)
    log = service.log()
    assert not any(line.split(" ")[2:3] == ["service.forged"] or line.startswith("service.forged")
                   for line in log.splitlines())
    assert "\x1b" not in log


def test_service_hundred_runs_in_a_row_leave_nothing(host, start_service):
    """R4.5"""
    s = start_service(*ROOMY)
    for i in range(10):
        assert len(s.post("/v1/batches",
                          {"runs": [{"language": "python", "code": "print(1)"}] * 10}).json["results"]) == 10
    s.stop()
