"""Files of a session are reached from outside while its guest runs. The guest attacks the process that reaches them."""

import os
import secrets
from urllib.parse import quote

import pytest
from harness import eventually, public_dir
from service import Service


@pytest.fixture(scope="module")
def service():
    with Service("--set", "runs.max=8", "--set", "pools.max=0") as s:
        yield s


@pytest.fixture
def session(service):
    made = service.post("/v1/sessions", {"language": "python", "cell_limits": {"wall_ms": 60000, "cpu_ms": 60000}})
    assert made.status == 201, made
    yield "/v1/sessions/" + made.json["id"]
    service.delete("/v1/sessions/" + made.json["id"])


def begin(service, session, code):
    """The cell says by a file that it attacks."""
    reply = service.post(session + "/exec", {"code": code, "wait": False})
    assert reply.status in (200, 202), reply
    assert eventually(lambda: service.get(session + "/files/begun").status == 200), service.get(session + "/cells/1")


def test_a_name_that_the_guest_swaps_leads_to_no_file_of_the_host(service, session):
    """The directory of the path is a link to a directory of the host at every other moment."""
    outside = public_dir()
    outside.chmod(0o777)
    secret = secrets.token_hex(16).encode()
    (outside / "f").write_bytes(secret)
    (outside / "f").chmod(0o666)
    begin(service, session, f"""
import ctypes, os
libc = ctypes.CDLL(None)
os.mkdir('d'); os.symlink({str(outside)!r}, 'l'); open('begun', 'w').close()
while not os.path.exists('enough'):
    for _ in range(1000): libc.renameat2(-100, b'd', -100, b'l', 2)
    open('swaps', 'a').write('x')
""")
    answers = {"PUT": set(), "GET": set(), "DELETE": set()}
    for _ in range(30):
        for method in answers:
            reply = service.request(method, session + "/files/d/f", b"guest" if method == "PUT" else None)
            assert secret not in reply.body, reply
            answers[method].add(reply.status)
        rows = service.get(session + "/files").json["files"]
        assert not any(r["path"].startswith("l/") and r["type"] == "file" and r["size"] == 32 for r in rows), rows
    assert len(service.get(session + "/files/swaps").body) > 0  # the guest did swap them
    assert service.put(session + "/files/enough", b"").status == 200
    assert answers["PUT"] <= {200, 409} and answers["GET"] <= {200, 404, 409}, answers
    assert answers["DELETE"] <= {204, 404, 409}, answers
    assert (outside / "f").read_bytes() == secret and os.listdir(outside) == ["f"]


def test_a_guest_cannot_stop_trace_or_kill_the_process_that_reaches_its_files(service, session):
    begin(service, session, """
import ctypes, os
libc, me, hit = ctypes.CDLL(None), os.getpid(), set()
open('begun', 'w').close()
while not os.path.exists('enough'):
    for pid in list(range(2, 70000)) + [-1]:
        if pid == me: continue
        for number in (19, 9):
            if libc.kill(pid, number) == 0 and pid > 0: hit.add(pid)
        if libc.ptrace(0x4206, pid, 0, 0) == 0: hit.add(pid)
    open('rounds', 'a').write('x')
    open('hit', 'w').write(repr(sorted(hit)))
    open('seen', 'w').write(repr([p for p in os.listdir('/proc') if p.isdigit()]))
""")
    rounds = 0
    while rounds < 3:
        for i in range(10):
            assert service.put(session + f"/files/{quote('ä')}{i}", b"x" * 100000).status == 200
            got = service.get(session + f"/files/{quote('ä')}{i}")
            assert got.status == 200 and len(got.body) == 100000, got
        rounds = len(service.get(session + "/files/rounds").body) if service.get(
            session + "/files/rounds").status == 200 else 0
    assert service.get(session + "/files/hit").body in (b"[]", b""), service.get(session + "/files/hit")
    assert len(service.get(session + "/files/seen").body.split(b",")) <= 3, service.get(session + "/files/seen")
    assert service.put(session + "/files/enough", b"").status == 200


def test_special_files_of_a_guest_hold_nobody_up(service, session):
    """A FIFO with and without a writer, a socket, a file that is locked, links to the host; and things that no guest
    can make."""
    begin(service, session, """
import fcntl, os, socket
os.mkfifo('alone'); os.mkfifo('pair'); keep = os.open('pair', os.O_RDWR); os.write(keep, b'x' * 1000)
s = socket.socket(socket.AF_UNIX); s.bind('socket'); s.listen()
f = open('locked', 'w'); f.write('mine'); f.flush(); fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_EX)
made = []
for name, make in (('hard', lambda n: os.link('/etc/passwd', n)),
                   ('null', lambda n: os.mknod(n, 0o20666, os.makedev(1, 3)))):
    try: make(name); made.append(name)
    except OSError as e: pass
os.symlink('/proc/1/mem', 'memory'); os.symlink('/dev/zero', 'zero')
open('made', 'w').write(repr(made)); open('begun', 'w').close()
import time
while not os.path.exists('enough'): time.sleep(.01)
""")
    for name in ("alone", "pair", "socket", "memory", "zero"):
        for method in ("GET", "PUT"):
            reply = service.request(method, session + "/files/" + name, b"x" if method == "PUT" else None, within=8)
            assert reply.status == 409 and "regular file" in reply.error["message"], (method, name, reply)
    assert service.get(session + "/files/locked").body == b"mine"
    assert service.get(session + "/files/made").body == b"[]"
    assert service.put(session + "/files/locked", b"ours").status == 200
    assert service.put(session + "/files/enough", b"").status == 200
