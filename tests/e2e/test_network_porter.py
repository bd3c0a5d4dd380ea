"""The bounds of the porter, and hosts that do not answer (R4.2)."""

import subprocess

import pytest

from harness import ROOT, belljar
from service import Service
from test_network import TRY
from world import NEAR, PRIVATE, WORLD, World, _enter

pytestmark = pytest.mark.skipif(not ROOT, reason="it takes root to make the namespaces of the test")

MOVING, DEAD = "203.0.113.77", "203.0.113.98"


@pytest.fixture(scope="module")
def world():
    with World() as w:
        w.say(80, b"hello")
        w.say(80, b"a secret of the machine", "0.0.0.0", near=True)
        w.echo(7)
        w.name("web.example.org", WORLD)
        yield w


@pytest.fixture(scope="module")
def service(world):
    with Service("--set", "network.max=*.example.org:80,*.example.org:7", "--set", f"network.private={PRIVATE}",
                 "--set", "network.idle=1s", "--set", "pools.max=2", prefix=world.prefix()) as s:
        yield s


def run(service, code, *allow):
    r = service.run(TRY + code, unix=True, network={"allow": list(allow)})
    assert r["verdict"] == "ok", r
    return r


def near(world, *argv):
    subprocess.run(_enter(world.near, "ip", *argv), check=True)


def test_connection_without_a_byte_is_closed(service):
    code = "s = socket.create_connection(('web.example.org', 7)); s.sendall(b'x'); print(s.recv(1))\n" \
           "try: print(s.recv(1))\nexcept OSError as e: print(e.errno)"
    r = run(service, code, "web.example.org:7")
    assert r["stdout"] == "b'x'\n104\n", r
    (entry,) = r["network"]["log"]
    assert (entry["outcome"], r["limits_hit"]) == ("idle", []) and entry["duration_ms"] > 1000, r


def test_second_address_is_tried_beside_a_dead_one(world, service):
    """The first address takes packets and never answers; alone it would be tried for seconds."""
    near(world, "neigh", "replace", DEAD, "lladdr", "02:00:00:00:00:01", "dev", "near")
    world.name("two.example.org", [DEAD, WORLD])
    r = run(service, "print(attempt('two.example.org'))", "two.example.org:80")
    (entry,) = r["network"]["log"]
    assert (r["stdout"], entry["address"], entry["outcome"]) == ("hello\n", WORLD, "closed"), r
    assert entry["duration_ms"] < 1900, r


def test_refused_first_address_does_not_end_the_attempts(world, service):
    world.address(MOVING)
    world.name("three.example.org", [DEAD, MOVING, NEAR, WORLD])
    r = run(service, "print(attempt('three.example.org'))", "three.example.org:80")
    assert r["stdout"] == "hello\n" and r["network"]["log"][0]["address"] == WORLD, r


def test_address_that_the_machine_gets_later_is_refused(world, service):
    world.address(MOVING)
    world.say(80, b"moved", MOVING)
    world.name("moving.example.org", MOVING)
    code = "print(attempt('moving.example.org'))"
    assert run(service, code, "moving.example.org:80")["stdout"] == "moved\n"
    near(world, "addr", "add", f"{MOVING}/32", "dev", "near")
    try:
        r = run(service, code, "moving.example.org:80")
    finally:
        near(world, "addr", "del", f"{MOVING}/32", "dev", "near")
    assert r["stdout"] == "ConnectionResetError 104\n", r
    assert r["network"]["log"][0]["outcome"] == "blocked_address", r


def test_porter_without_free_descriptors_refuses_and_says_so(world):
    """The bound is that of all runs. Connections that are open go on, and the others are reset at once."""
    code = """
held, busy = [], 0
for _ in range(60):
    s = socket.create_connection(('web.example.org', 7))
    try:
        s.sendall(b'x')
        assert s.recv(1) == b'x'
        held.append(s)
    except ConnectionError:
        busy += 1
for s in held:
    s.sendall(b'y')
print(len(held) + busy, busy > 20, len(held) > 10, all(s.recv(1) == b'y' for s in held))
for s in held: s.close()
for _ in range(500):
    if (got := attempt('web.example.org', 7, b'z')) == 'z': break
print(got)
"""
    r = belljar("run", "--local", "--json", "--open-files", "100", "--allow-net", "web.example.org:7",
                "--allow-private", PRIVATE, "-l", "python", "-", stdin=(TRY + code).encode(),
                prefix=[*world.prefix(), "prlimit", "--nofile=128:128"])
    assert r.json["stdout"] == "60 True True True\nz\n", r
    (busy,) = [e for e in r.json["network"]["log"] if e["outcome"] == "busy"]
    assert (busy["host"], busy["port"]) == ("web.example.org", 7), r


SEND = """
import socket
def ask(host, port, *words, wait=30):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(wait)
    got = []
    try:
        s.connect((host, port))  # answers from another address would be dropped
        for word in words:
            s.send(word)
            got.append(s.recv(65536).decode())
    except OSError as e:
        got.append(type(e).__name__)
    return got
"""


@pytest.fixture(scope="module")
def clock(world):
    """A server for datagrams."""
    import socket
    import threading
    s = world.socket(socket.SOCK_DGRAM, WORLD, 123)

    def serve():
        while True:
            try:
                data, who = s.recvfrom(65536)
            except OSError:
                return
            s.sendto(data.upper() if data != b"long" else b"y" * 60000, who)

    threading.Thread(target=serve, daemon=True).start()
    world.name("ntp.example.org", WORLD)
    world.name("trap.example.org", "127.0.0.1")
    return s


@pytest.fixture(scope="module")
def datagrams(world, clock):
    with Service("--set", "network.max=full", "--set", f"network.private={PRIVATE}", "--set", "network.idle=1s",
                 "--set", "network.bytes_in=100000", "--set", "network.connections=4", prefix=world.prefix()) as s:
        yield s


def talk(service, code, **network):
    r = service.run(SEND + code, unix=True, network=network)
    assert r["verdict"] == "ok", r
    return r


def test_datagrams_go_to_a_listed_host_and_answers_come_back(datagrams):
    r = talk(datagrams, "print(*ask('ntp.example.org', 123, b'one', b'two'))", udp=["ntp.example.org:123"])
    assert r["stdout"] == "ONE TWO\n", r
    (entry,) = r["network"]["log"]
    assert [entry[k] for k in ("host", "port", "protocol", "address", "bytes_in", "bytes_out", "outcome")] == [
        "ntp.example.org", 123, "udp", WORLD, 6, 6, "closed"], r


def test_wildcard_and_address_work_for_datagrams(datagrams):
    code = f"print(*ask('ntp.example.org', 123, b'one'), *ask('{WORLD}', 123, b'two'), *ask('127.0.0.1', 124, b'x'))"
    r = talk(datagrams, code, udp=["*.example.org:123", f"{WORLD}:123"])
    assert r["stdout"] == "ONE TWO ConnectionRefusedError\n", r


def test_datagrams_are_off_by_default(datagrams):
    code = f"print(*ask('ntp.example.org', 123, b'one'), *ask('{WORLD}', 123, b'one'))"
    r = talk(datagrams, code, allow=["ntp.example.org:123"])
    assert r["stdout"] == "ConnectionRefusedError OSError\n", r


def test_datagrams_never_reach_the_machine(datagrams):
    code = "print(*ask('trap.example.org', 123, b'one', wait=1))"
    r = talk(datagrams, code, udp=["trap.example.org:123"])
    assert r["stdout"] == "TimeoutError\n" and r["network"]["log"][0]["outcome"] == "blocked_address", r


def test_datagrams_meet_the_caps(datagrams):
    code = """
print([len(x) for x in ask('ntp.example.org', 123, b'long', b'long', wait=2)][:1])
"""
    r = talk(datagrams, code, udp=["ntp.example.org:123"])
    assert r["stdout"] == "[60000]\n" and r["network"]["limits_hit"] == ["bytes_in"], r
    assert r["network"]["bytes_in"] == 60000, r
    code = """
held = []
for _ in range(6):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(2); s.connect(('ntp.example.org', 123))
    s.send(b'x'); held.append(s)
print(*ask('web.example.org', 80, b'x', wait=2))
"""
    r = talk(datagrams, code, udp=["ntp.example.org:123"])
    assert r["network"]["limits_hit"] == ["connections"] and r["network"]["connections"] == 4, r
