"""Name servers that lie, are late or flood, and a guest that misuses its network in every way: the cost is bounded, and
nobody else notices (R4.2)."""

import os
import re
import socket
import subprocess
import threading
import time

import pytest

from harness import ROOT, eventually
from service import Service
from test_network import TRY
from world import PRIVATE, WORLD, World

pytestmark = pytest.mark.skipif(not ROOT, reason="it takes root to make the namespaces of the test")

ROOM = {"wall_ms": 100000, "cpu_ms": 60000, "open_files": 512}
SECRET = socket.inet_aton("127.0.0.1")


def forged(answer):
    """Answers to another question, with another id, cut, and of garbage, before the true one."""
    lie = answer.replace(socket.inet_aton(WORLD), SECRET)
    yield bytes([answer[0] ^ 1]) + lie[1:]
    yield lie[:13] + b"x" + lie[14:]  # another name
    yield lie[:20]
    yield os.urandom(300)
    yield answer


def late(answer):
    time.sleep(1.5)
    yield answer


def flood(answer):
    for i in range(300):
        yield bytes([answer[0] ^ 1, i & 255]) + answer[2:]
    yield answer


def endless(answer):
    """A chain of names that has no end."""
    yield answer[:6] + b"\0\x40" + answer[8:12] + answer[12:] + b"\xc0\x0c\0\5\0\1\0\0\0\0\0\2\xc0\x0c" * 64


@pytest.fixture(scope="module")
def world():
    with World() as w:
        w.say(80, b"hello")
        w.say(80, b"a secret of the machine", "127.0.0.1", near=True)
        w.listen(81, pour)
        for name in ("web", "forged", "late", "flood", "endless"):
            w.name(f"{name}.example.org", WORLD)
        w.hostile = {f"{f.__name__}.example.org": f for f in (forged, late, flood, endless)}
        yield w


def pour(c):
    while True:
        c.sendall(b"x" * 65536)


@pytest.fixture(scope="module")
def service(world):
    with Service("--set", "network.max=*.example.org:80,*.example.org:81", "--set", f"network.private={PRIVATE}",
                 "--set", "network.connections=32", "--set", "network.bytes_in=1g", prefix=world.prefix()) as s:
        yield s


def run(service, code, *allow, **fields):
    return service.run(TRY + code, unix=True, network={"allow": list(allow)}, **fields)


def test_name_server_that_lies_is_late_or_floods_wins_nothing(service):
    """A name may fail then: no answer leads to another address, and other names are served."""
    code = "print(*[attempt(n + '.example.org') for n in ('forged', 'late', 'flood', 'endless', 'web')], sep='\\n')"
    r = run(service, code, "*.example.org:80", limits={"wall_ms": 60000})
    lines = r["stdout"].splitlines()
    assert lines[0] == lines[4] == "hello" and set(lines) <= {"hello", "ConnectionResetError 104"}, r
    assert {e["address"] for e in r["network"]["log"]} <= {WORLD, None}, r


MISUSE = """
import os, threading
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.setblocking(False)
question = bytes.fromhex('123401000001000000000000') + b'\\4none\\7example\\3net\\0\\0\\1\\0\\1'
def ask():
    for i in range(5000):
        try: u.sendto(question[:13] + b'%05d' % i + question[17:] if i % 2 else question, ('127.0.0.1', 53))
        except BlockingIOError: pass
threading.Thread(target=ask).start()
held = []
for _ in range(8):  # they pour, and nobody reads
    held.append(socket.create_connection(('web.example.org', 81)))
for _ in range(8):  # half of a message, and no end
    s = socket.create_connection(('web.example.org', 80)); s.sendall(b'\\x16\\3\\1\\2\\0\\1'); held.append(s)
outcomes, web = {}, socket.gethostbyname('web.example.org')
for _ in range(100000):
    s = socket.socket()
    n = s.connect_ex((web, 80))
    outcomes[n] = outcomes.get(n, 0) + 1
    s.close()
print(sum(outcomes.values()), sorted(outcomes), flush=True)
os.kill(os.getpid(), 9)  # in the middle of everything
"""


def test_guest_that_misuses_its_network_harms_nobody(service):
    porter = service.half("porter").pid

    def descriptors():
        return len(os.listdir(f"/proc/{porter}/fd"))

    assert run(service, "print(attempt('web.example.org'))", "web.example.org:80")["stdout"] == "hello\n"
    assert eventually(lambda: descriptors() < 40, 20)
    before, results = descriptors(), []
    thread = threading.Thread(target=lambda: results.append(run(service, MISUSE, "web.example.org:80",
                                                                "web.example.org:81", limits=ROOM)))
    thread.start()
    others = 0
    while thread.is_alive() or others == 0:
        r = run(service, "print(attempt('web.example.org'))", "web.example.org:80")
        assert r["stdout"] == "hello\n", r
        others += 1
    thread.join()
    (r,) = results
    assert r["signal"] == "SIGKILL" and r["stdout"].startswith("100000 [0"), r
    assert "network_limit" in r["limits_hit"] and r["network"]["complete"], r
    assert eventually(lambda: descriptors() <= before, 20), (before, descriptors())
    with open(f"/proc/{porter}/status") as f:
        resident = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
    assert service.half("porter").pid == porter and resident < 64 << 10, resident


UNREAD = """
import time
held = [socket.create_connection(('web.example.org', 81)) for _ in range(16)]
for s in held:  # the kernel gives a connection that is read larger buffers
    got = 0
    while got < 12 << 20: got += len(s.recv(1 << 20))
time.sleep(60)
"""


def test_bytes_that_nobody_reads_fill_few_buffers(world, service):
    """A connection may hold tens of MiB in the kernel: 4 of a run have such buffers, and the others small ones."""
    def connections():
        shown = subprocess.run([*world.prefix(), "ss", "-Htmin", "dport", "=", ":81"], capture_output=True, text=True)
        read = [int(n) for n in re.findall(r"bytes_received:(\d+)", shown.stdout)]
        return [int(n) for n in re.findall(r"skmem:\(r\d+,rb(\d+)", shown.stdout)], read

    started = service.post("/v1/runs", {"language": "python", "code": TRY + UNREAD, "wait": False,
                                        "network": {"allow": ["web.example.org:81"]}, "limits": ROOM}, unix=True)
    assert started.status == 202, started
    assert eventually(lambda: (read := connections()[1]) and len(read) == 16 and min(read) >= 12 << 20, 60)
    sizes = connections()[0]
    service.delete(f"/v1/runs/{started.json['id']}", unix=True)
    assert len(sizes) == 16 and sum(n > 512 << 10 for n in sizes) <= 4, sizes
