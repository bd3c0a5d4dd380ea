"""Network namespaces and cgroups of jars that are gone are used again: the next guest must not find, count or pay for
anything that the one before left in them."""

import json

import pytest

import warm
from harness import eventually

LEAVE = {
    "a listener": """\
s = socket.create_server(('127.0.0.1', 7777))
u = socket.create_server(('::1', 7777), family=socket.AF_INET6)""",
    "connections that wait": """\
s = socket.create_server(('127.0.0.1', 7777))
for _ in range(20):
    c = socket.create_connection(('127.0.0.1', 7777))
    s.accept()[0].close(); c.close()""",
    "an abstract socket": "s = socket.socket(socket.AF_UNIX)\ns.bind('\\0left')\ns.listen()",
    "a socket in its own queue": """\
a, b = socket.socketpair()
u = socket.socket(socket.AF_UNIX); u.bind('\\0left'); u.listen()
fds = [a.fileno(), b.fileno(), u.fileno()]
socket.send_fds(a, [b'x'], fds)
socket.send_fds(b, [b'x'], fds)""",
    "multicast groups": """\
for family, level, name, value in ((2, 0, 35, socket.inet_aton('224.1.2.3') + socket.inet_aton('127.0.0.1')),
        (2, 0, 42, struct.pack('@LH2x4s120x', 1, 2, socket.inet_aton('224.1.2.4'))),
        (10, 41, 20, socket.inet_pton(10, 'ff02::77') + struct.pack('@I', 1))):
    try: socket.socket(family, socket.SOCK_DGRAM).setsockopt(level, name, value)
    except OSError as e: assert e.errno == 19, e
    else: raise SystemExit('it joined a group')""",
    "datagrams": """\
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('127.0.0.1', 7777))
for _ in range(100): s.sendto(b'x' * 1000, ('127.0.0.1', 7777))""",
    "failed connections": """\
for p in range(1, 50):
    try: socket.create_connection(('127.0.0.1', p))
    except OSError: pass""",
    "shared memory and queues": """\
for n in range(8):
    libc.shmget(77 + n, 4096, 0o1666)
    libc.msgget(77 + n, 0o1666)
    libc.semget(77 + n, 1, 0o1666)
libc.mq_open(b'/left', os.O_CREAT | os.O_RDWR, 0o666, None)""",
}
LEFT = """\
import ctypes, os, socket, struct
libc = ctypes.CDLL(None)
%s
print(socket.socket().getsockopt(1, 71, 8).hex())"""
LOOK = r'''
import ctypes, json, os, socket
libc = ctypes.CDLL(None)
libc.mq_open.restype = ctypes.c_int
said = {}
for name in ("dev", "sockstat6", "snmp", "snmp6", "unix", "ip6_flowlabel", "tcp", "tcp6", "udp", "udp6", "igmp",
             "igmp6", "mcfilter", "mcfilter6", "raw",
             "route", "ipv6_route", "if_inet6", "arp", "dev_mcast", "netstat"):
    try: said[name] = open("/proc/self/net/" + name).read()
    except OSError as e: said[name] = e.errno
def tried(f):
    try: f(); return "ok"
    except OSError as e: return e.errno
said["ipc"] = [libc.shmget(77, 4096, 0), libc.msgget(77, 0), libc.semget(77, 1, 0), libc.mq_open(b"/left", os.O_RDWR)]
said["bind"] = tried(lambda: socket.create_server(("127.0.0.1", 7777)).close())
said["abstract"] = tried(lambda: socket.socket(socket.AF_UNIX).connect("\0left"))
print(json.dumps(said))
print(socket.socket().getsockopt(1, 71, 8).hex())
'''
ROUNDS = 24  # far more than wait: every part that is kept is taken


@pytest.fixture(scope="module")
def new(warm_service):
    """The state that a guest sees in parts that nobody used before."""
    return json.loads(warm_service.run(LOOK, read_only=False)["stdout"].splitlines()[0])


@pytest.mark.parametrize("what", LEAVE)
def test_warm_guest_finds_nothing_of_the_one_before(pooled, new, what):
    for _ in range(3):  # also into parts that have been used
        r = warm.run(pooled, LEFT % LEAVE[what], refill=False)
        assert r["verdict"] == "ok", r
    for _ in range(ROUNDS):
        r = warm.run(pooled, LOOK, refill=False)
        assert r["verdict"] == "ok", r
        said = json.loads(r["stdout"].splitlines()[0])
        assert {k: (v, new[k]) for k, v in said.items() if v != new[k]} == {}


def test_warm_parts_are_used_again(pooled):
    """Or the tests here would prove nothing."""
    seen = [warm.run(pooled, LEFT % "", refill=False)["stdout"] for _ in range(ROUNDS)]
    assert len(set(seen)) < ROUNDS, seen


def test_warm_run_pays_for_itself_alone(pooled, needs):
    """Usage is counted from the job on, not from the start of its cgroup or its embryo."""
    needs("memory", "pids")
    hog = """\
x = bytearray(100 << 20)
import os
for _ in range(20):
    if os.fork() == 0: os._exit(0)
s = sum(range(3000000))"""
    for _ in range(3):
        assert warm.run(pooled, hog, refill=False)["usage"]["memory_peak_bytes"] > 100 << 20
    for _ in range(ROUNDS):
        used = warm.run(pooled, "print(1)", refill=False)
        assert used["usage"]["memory_peak_bytes"] < 40 << 20 and used["usage"]["cpu_ms"] < 100, used["usage"]
        assert used["usage"]["pids_peak"] == 1, used["usage"]
        assert used["limits_hit"] == [], used


def test_warm_jars_that_live_share_no_uid(pooled, whole_jar):
    code = "print(open('/proc/self/uid_map').read().split()[1], flush=True)\ninput()"  # and lives until we say so
    ids = [pooled.run(code, wait=False, status=202, stdin_open=True, limits={"wall_ms": 60000})["id"]
           for _ in range(12)]
    told = lambda: [pooled.get(f"/v1/runs/{i}/stdout").body.strip() for i in ids]  # noqa: E731
    assert eventually(lambda: all(told()), 20), told()
    assert len(set(told())) == 12, told()
    for i in ids:
        assert pooled.post(f"/v1/runs/{i}/stdin", {"data": "\n", "eof": True}).status == 202
        assert pooled.finished(i)["verdict"] == "ok"
