"""The full network: metadata of clouds, loopback, the machine and the service stay out of reach (R4.2)."""

import socket
import subprocess
import threading

import pytest

from harness import ROOT
from service import Service
from world import NEAR, PRIVATE, WORLD, World, _enter

pytestmark = pytest.mark.skipif(not ROOT, reason="it takes root to make the namespaces of the test")

METADATA, NEAR6, FAR6, OWN_PORT = "169.254.169.254", "2001:db8:1::1", "2001:db8:1::2", 6124
ATTACK = """
import socket
def attempt(host, port):
    try:
        for family, kind, proto, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind, proto) as s:
                s.settimeout(30)
                s.connect(address)
                s.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')
                return repr(s.recv(100))
    except OSError as e:
        return type(e).__name__
"""


class Count:
    """A server that counts its connections."""

    def __init__(self):
        self.n, self.lock = 0, threading.Lock()

    def __call__(self, c):
        with self.lock:
            self.n += 1
        c.sendall(b"SECRET")
        c.shutdown(socket.SHUT_WR)
        while c.recv(65536):
            pass


@pytest.fixture(scope="module")
def world():
    with World() as w:
        for pid, address, device in ((w.near, f"{NEAR6}/64", "near"), (w.far, f"{FAR6}/64", "far"),
                                     (w.far, f"{METADATA}/32", "far"), (w.far, "10.0.0.1/32", "far")):
            flags = ["nodad"] if ":" in address else []
            subprocess.run(_enter(pid, "ip", "addr", "add", address, "dev", device, *flags), check=True)
        w.secrets, w.open = Count(), Count()
        for address in ("0.0.0.0", "::"):
            w.listen(80, w.secrets, address, near=True)
        for address in (METADATA, "10.0.0.1"):
            w.listen(80, w.secrets, address)
        w.listen(80, w.open, WORLD)
        for name, *answers in (("meta", METADATA), ("home", "127.0.0.1"), ("near", NEAR), ("six", NEAR6),
                               ("mapped", "::ffff:" + METADATA), ("nat64", "64:ff9b::a9fe:a9fe"),
                               ("sixtofour", "2002:a9fe:a9fe::1"), ("zero", "0.0.0.0"), ("private", "10.0.0.1"),
                               ("alias", "cname:meta.example.org"), ("good", WORLD)):
            w.name(f"{name}.example.org", answers)
        w.name("turn.example.org", [WORLD], [METADATA], [NEAR])
        yield w


def reached(world, address):
    """By a process of the machine itself: the server is there."""
    code = f"import socket; print(socket.create_connection(({address!r}, 80), 30).recv(10))"
    return subprocess.run([*world.prefix(), "/usr/bin/python3", "-c", code], capture_output=True, text=True).stdout


def test_full_network_never_reaches_the_machine_or_metadata(world):
    for address in (METADATA, "127.0.0.1", NEAR, NEAR6, "::1", "10.0.0.1"):
        assert reached(world, address) == "b'SECRET'\n", address
    before = world.secrets.n
    hosts = [METADATA, "::ffff:" + METADATA, "2852039166", "0xa9fea9fe", "169.254.43518", "0251.0376.0251.0376",
             "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "::" + METADATA, NEAR, "::ffff:" + NEAR, NEAR6, "10.0.0.1",
             "::ffff:10.0.0.1", "127.0.0.1", "127.1", "0x7f.1", "2130706433", "::1", "::ffff:127.0.0.1",
             "0.0.0.0", "::", "198.18.0.1", "198.18.0.77", "198.51.100.1", "192.0.2.1", "224.0.0.1",
             "255.255.255.255", "240.0.0.1", "fe80::1", "fd00::1", "ff02::1"]
    hosts += [f"{n}.example.org" for n in ("meta", "home", "near", "six", "mapped", "nat64", "sixtofour", "zero",
                                           "private", "alias")]
    code = ATTACK + f"""
for host in {hosts!r}: print(host, attempt(host, 80))
print('service', attempt('{NEAR}', {OWN_PORT}), attempt('127.0.0.1', {OWN_PORT}))
for _ in range(3): print('turn', attempt('turn.example.org', 80))
print('good', attempt('good.example.org', 80), attempt('{WORLD}', 80))
"""
    with Service("--set", "network.max=full", "--set", f"network.private={PRIVATE}", "--set", "network.names=100",
                 listen=(f"127.0.0.1:{OWN_PORT}",), prefix=world.prefix()) as s:
        r = s.run(code, unix=True, network="full", limits={"wall_ms": 60000})
    lines = r["stdout"].splitlines()
    assert len(lines) == len(hosts) + 5, r
    assert lines[-1] == "good b'SECRET' b'SECRET'" and world.open.n >= 3, r
    assert [x for x in lines if "SECRET" in x] == ["turn b'SECRET'", lines[-1]], r
    assert "HTTP" not in r["stdout"], r
    assert world.secrets.n == before, r
    blocked = {e["address"] for e in r["network"]["log"] if e["outcome"] == "blocked_address"}
    assert {METADATA, NEAR, NEAR6, "10.0.0.1"} <= blocked, r
