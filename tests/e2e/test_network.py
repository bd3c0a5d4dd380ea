"""The network of runs, by name (R4.2): a small internet in namespaces, no packet leaves the machine."""

import os
import signal
import subprocess
import threading

import pytest

import harness
from harness import ROOT, as_ordinary_user, belljar, eventually
from hostview import descendants
from service import Service
from world import NEAR, PRIVATE, WORLD, World

pytestmark = pytest.mark.skipif(not ROOT, reason="it takes root to make the namespaces of the test")

OWN_PORT = 6123  # of a service, in a namespace of its own
TRY = """
import socket
def attempt(host, port=80, say=b""):
    try:
        with socket.create_connection((host, port), 30) as s:
            s.sendall(say)
            try:
                s.shutdown(socket.SHUT_WR)
            except OSError:  # a reset has come: recv() tells it
                pass
            data = b""
            while piece := s.recv(65536):
                data += piece
            return data.decode("latin1")
    except OSError as e:
        return type(e).__name__ + " " + str(e.errno)
"""


def echo(c, met):
    while data := c.recv(65536):
        if data == b"marker":
            met.set()
        c.sendall(data)


@pytest.fixture(scope="module")
def world():
    with World() as w:
        w.say(80, b"hello")
        w.say(80, b"a secret of the machine", "0.0.0.0", near=True)
        w.say(80, b"a secret of the machine", "::", near=True)
        w.met = threading.Event()
        w.listen(7, lambda c: echo(c, w.met))
        w.name("web.example.org", WORLD)
        w.name("other.example.org", WORLD)
        yield w


@pytest.fixture(scope="module")
def service(world):
    with Service("--set", "network.max=web.example.org:80,*.example.org:80,*.example.org:7,203.0.113.2:80,"
                 "*.example.org:443,inner.example.org:80,203.0.113.2:7",
                 "--set", f"network.private={PRIVATE}", "--set", "pools.max=4", prefix=world.prefix()) as s:
        yield s


def run(service, code, *allow, **fields):
    return service.run(TRY + code, unix=True, network={"allow": list(allow)}, **fields)


def printed(service, code, *allow, **fields):
    r = run(service, code, *allow, **fields)
    assert r["verdict"] == "ok", r
    return r["stdout"].splitlines()


def warm(service):
    """Until an embryo waits: its start would be cold otherwise."""
    assert eventually(lambda: service.run("1", unix=True)["start"] == "warm", 60)


def test_program_reaches_a_listed_name(service):
    assert printed(service, "print(attempt('web.example.org'))", "web.example.org:80") == ["hello"]


def test_warm_embryo_gets_a_network_with_its_job(service):
    warm(service)
    assert eventually(lambda: (lambda r: r["start"] == "warm" and r["stdout"] == "hello\n")(
        run(service, "print(attempt('web.example.org'))", "web.example.org:80")), 60)


def test_batches_and_artifacts_have_their_list(service):
    body = {"language": "python", "code": TRY + "print(attempt('web.example.org'))"}
    network = {"allow": ["web.example.org:80"]}
    reply = service.post("/v1/batches", {"runs": [{**body, "network": network}, body]}, unix=True)
    assert reply.status == 200 and [r["stdout"] for r in reply.json["results"]] == ["hello\n", "gaierror -2\n"], reply
    made = service.post("/api/artifacts/create", {"language": "python", "title": "t", "content": body["code"]},
                        unix=True)
    for fields, said in (({"network": network}, "hello"), ({}, "gaierror -2")):
        reply = service.post(f"/api/artifacts/{made.json['id']}/execute", fields, unix=True)
        assert reply.status == 200 and said in reply.json["execution"]["output"], reply


def test_run_without_a_list_has_no_network(service):
    r = service.run(TRY + "print(attempt('web.example.org'))\nprint(attempt('203.0.113.2'))", unix=True)
    assert r["stdout"].splitlines() == ["gaierror -2", "OSError 101"], r


def test_denied_name_address_and_port_fail_at_once_and_nobody_is_asked(world, service):
    before = len(world.questions())
    r = run(service, "print(attempt('other.example.org'), attempt('8.8.8.8'), attempt('203.0.113.2'), "
            "attempt('2001:db8::1'), attempt('web.example.org', 81), sep='\\n')", "web.example.org:80")
    assert r["stdout"].splitlines() == ["gaierror -2", *["OSError 101"] * 3, "ConnectionRefusedError 111"], r
    assert (r["network"]["unrouted"], r["network"]["refused"], r["network"]["denied"]) == (3, 1, 1), r
    assert world.questions()[before:] == []


def test_wildcard_opens_names_beneath_it_and_nothing_else(world, service):
    lines = printed(service, "print(attempt('web.example.org'), attempt('other.example.org'), attempt('example.org'), "
                    "attempt('example.net'), sep='\\n')", "*.example.org:80")
    assert lines == ["hello", "hello", "gaierror -2", "gaierror -2"]


def test_name_is_reached_in_each_spelling(world, service):
    """In capital letters, with a dot at the end, and in letters beyond ASCII: in the list and in the program."""
    world.name("xn--bcher-kva.example.org", [WORLD])
    lines = printed(service, "for name in ('WEB.Example.ORG', 'web.example.org.', 'bücher.example.org', "
                    "'xn--bcher-kva.example.org.', 'web.example.org..'):\n"
                    "    try: print(attempt(name))\n    except UnicodeError: print('no name')",
                    "Web.example.org.:80", "BÜCHER.example.org:80")
    assert lines == ["hello"] * 4 + ["no name"]


def test_literal_address_of_the_list_is_reached(service):
    lines = printed(service, "print(attempt('203.0.113.2'), attempt('203.0.113.53'), sep='\\n')", "203.0.113.2:80")
    assert lines == ["hello", "OSError 101"]


def test_listed_address_opens_its_own_port_alone(service):
    """The listener of a wildcard is for the addresses of names, and no connection to another one seems to succeed."""
    lines = printed(service, "print(attempt('203.0.113.2', 7, b'x'), attempt('203.0.113.2', 80), "
                    "attempt('127.0.0.1', 80), sep='\\n')", "*.example.org:80", "203.0.113.2:7")
    assert lines == ["x", "ConnectionRefusedError 111", "ConnectionRefusedError 111"]


def test_listed_address_at_the_port_of_a_wildcard_is_reached(service):
    lines = printed(service, "print(attempt('203.0.113.2', 80), attempt('web.example.org', 80))", "*.example.org:80",
                    "203.0.113.2:80")
    assert lines == ["hello hello"]


# Addresses that no run reaches, in every family and disguise. 203.0.113.0/24 is open, except for the machine itself.
REFUSED = ["0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.1.2.3", "169.254.169.254", "172.16.0.1",
           "172.31.255.255", "192.0.0.1", "192.168.0.1", "198.18.0.5", "198.51.100.1", "224.0.0.1", "239.1.1.1",
           "240.0.0.1", "255.255.255.255", NEAR, "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
           "::ffff:" + NEAR, "::ffff:" + WORLD, "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1",
           "2002:7f00:1::1", "2001:0:7f00:1::1", "fe80::1", "fe80::5efe:7f00:1", "fc00::1", "fd00:ec2::254", "fec0::1",
           "ff02::1", "2001:db8::1"]


def test_corpus_of_refused_addresses_gets_through_nowhere(world, service):
    """Each address as the answer for a name, behind another name, as the second answer (rebinding) and beside a
    public one. A public answer is served; the machine is not."""
    reset, wanted = "ConnectionResetError 104", {}
    for i, a in enumerate(REFUSED):
        world.name(f"alias{i}.example.net", a)
        for kind, answers, result in (("r", [[a]], f"{reset} {reset}"), ("b", [[WORLD], [a]], f"hello {reset}"),
                                      ("m", [[a, WORLD]], "hello hello"),
                                      ("c", [[f"cname:alias{i}.example.net"]], f"{reset} {reset}")):
            if kind != "c" or ":" not in a:  # the name server of the world has chains for IPv4
                world.name(f"{kind}{i}.example.org", *answers)
                wanted[f"{kind}{i}.example.org"] = result
    code = f"for n in {list(wanted)}: print(n, attempt(n), attempt(n))"
    r = run(service, code, "*.example.org:80", limits={"wall_ms": 60000})
    assert dict(line.split(" ", 1) for line in r["stdout"].splitlines()) == wanted, r
    seen = {(e["host"][0], e["outcome"]) for e in r["network"]["log"]}
    assert seen == {("r", "blocked_address"), ("c", "blocked_address"), ("b", "closed"), ("b", "blocked_address"),
                    ("m", "closed")}, seen


def test_last_bytes_reach_a_slow_reader_when_both_ends_are_closed(world, service):
    """The remote side is closed for both directions while bytes of it wait for the guest."""
    code = """
s = socket.create_connection(('web.example.org', 7)); sent = 0
import threading
def send():
    s.sendall(b'x' * 3000000); s.shutdown(socket.SHUT_WR)
threading.Thread(target=send).start()
time.sleep(1); got = 0
while True:
    part = s.recv(1 << 16)
    if not part: break
    got += len(part); time.sleep(0.002)
print(got)
"""
    assert printed(service, "import time\n" + code, "web.example.org:7") == ["3000000"]


def test_rebinding_name_reaches_only_checked_addresses(world, service):
    """The first answer is public, the next ones are the machine's own."""
    world.name("inner.example.org", [WORLD], ["127.0.0.1"], [NEAR])
    assert printed(service, "for _ in range(3): print(attempt('inner.example.org'))", "inner.example.org:80") == [
        "hello", "ConnectionResetError 104", "ConnectionResetError 104"]


def test_refused_and_missing_hosts_end_with_a_reset(world, service):
    world.name("inner.example.org", ["203.0.113.99"])
    world.name("web2.example.org", [WORLD])
    lines = printed(service, "print(attempt('web2.example.org', 443), attempt('gone.example.org', 443), sep='\\n')",
                    "*.example.org:443")
    assert lines == ["ConnectionResetError 104"] * 2


def test_bytes_go_both_ways_and_half_a_close_is_passed_on(service):
    code = "data = bytes(range(256)) * 8192\nprint(attempt('web.example.org', 7, data) == data.decode('latin1'))"
    assert printed(service, code, "*.example.org:7") == ["True"]


def test_name_server_of_the_jar_answers_over_tcp_and_knows_reverse_names(service):
    code = """
import struct
q = bytes.fromhex('123401000001000000000000') + b'\\3web\\7example\\3org\\0\\0\\1\\0\\1'
s = socket.create_connection(('127.0.0.1', 53))
s.sendall(struct.pack('>H', len(q)) + q)
address = s.recv(600)[-4:]
print(socket.inet_ntoa(address) == socket.gethostbyname('web.example.org'), address[0], address[1] in (18, 19))
print(socket.gethostbyaddr(socket.inet_ntoa(address))[0])
"""
    assert printed(service, code, "web.example.org:80") == ["True 198 True", "web.example.org"]


def test_garbage_for_the_name_server_harms_nobody(service):
    code = """
import os
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range(2000):
    u.sendto(os.urandom(n % 1400 + 1), ('127.0.0.1', 53))
for _ in range(20):
    t = socket.create_connection(('127.0.0.1', 53))
    t.sendall(os.urandom(3000))
print(attempt('web.example.org'))
"""
    assert printed(service, code, "web.example.org:80") == ["hello"]


def test_two_jars_do_not_meet(service):
    """Both have the address; each is alone with it."""
    code = "s = socket.socket(); s.bind(('198.18.0.9', 9999)); s.listen(); print(attempt('198.18.0.10', 9999))"
    assert printed(service, code, "web.example.org:80") == ["ConnectionRefusedError 111"]


def test_tls_that_names_another_server_is_reset(world, service):
    world.echo(443)
    code = """
import struct
def H(name):
    n = name.encode()
    e = b'\\0\\0' + struct.pack('>HHBH', len(n) + 5, len(n) + 3, 0, len(n)) + n
    m = b'\\3\\3' + b'r' * 32 + b'\\0' + b'\\0\\2\\x13\\1' + b'\\1\\0' + struct.pack('>H', len(e)) + e
    m = b'\\1' + struct.pack('>I', len(m))[1:] + m
    return b'\\x16\\3\\1' + struct.pack('>H', len(m)) + m
for name in ('web.example.org', 'evil.example.net'):
    print(attempt('web.example.org', 443, H(name)) == H(name).decode('latin1'))
print(attempt('web.example.org', 443, H('evil.example.net')))
print(attempt('web.example.org', 443, H('web.example.org')[:20]))
print(attempt('web.example.org', 443, b'plain'))
"""
    assert printed(service, code, "*.example.org:443") == ["True", "False", "ConnectionResetError 104",
                                                            "ConnectionResetError 104", "plain"]


def test_list_beyond_the_maximum_is_refused(service):
    reply = service.post("/v1/runs", {"code": "1", "language": "python", "network": {"allow": ["example.net:80"]}},
                         unix=True)
    assert reply.status == 403 and "network.max" in reply.error["message"], reply


def test_networks_of_jars_are_never_used_again(service):
    """A later jar without a list must not find routes or sockets. A program that uses its network leaves counters
    behind, so that its namespace does not read like a new one; this one does not use it."""
    for _ in range(12):
        printed(service, "print(1)", "web.example.org:80")
        r = service.run(TRY + "print(attempt('198.18.0.2'), attempt('127.0.0.1', 53))", unix=True)
        assert r["stdout"] == "OSError 101 ConnectionRefusedError 111\n", r


def test_porter_is_confined_and_has_its_own_uid(service):
    porter = service.half("porter")
    with open(f"/proc/{porter.pid}/status") as f:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
    keeper = service.half("keeper")
    uid = int(status["Uid"].split()[0])
    assert uid not in (0, os.stat(f"/proc/{keeper.pid}").st_uid) and status["CapEff"] == "0" * 16, status
    assert (harness.ASAN or status["Seccomp"] == "2") and status["NoNewPrivs"] == "1", status
    with open(f"/proc/{porter.pid}/limits") as f:
        memory = next(line for line in f if line.startswith("Max data size")).split()[3:5]
    assert (harness.ASAN or memory == [str(512 << 20)] * 2) and status["Threads"] == "1", (memory, status)


def test_run_outlives_the_porter_and_the_next_one_serves(world, service):
    porter = service.half("porter")
    code = """
s = socket.create_connection(('web.example.org', 7)); s.sendall(b'marker')
try:
    while s.recv(6): pass
    print('a whole stream')
except OSError as e: print(e.errno)
print(attempt('web.example.org', 7))
"""
    lines = []
    thread = threading.Thread(target=lambda: lines.extend(printed(service, code, "*.example.org:7")))
    thread.start()
    assert world.met.wait(60)
    os.kill(porter.pid, signal.SIGKILL)
    thread.join(60)
    assert lines == ["104", "gaierror -2"]  # a cut stream never looks like a whole one
    assert service.logged("porter.died", within=20)
    assert eventually(lambda: service.half("porter").pid != porter.pid, 20)
    assert eventually(lambda: service.post("/v1/runs", {
        "code": TRY + "print(attempt('web.example.org'))", "language": "python",
        "network": {"allow": ["web.example.org:80"]}}, unix=True).json.get("stdout") == "hello\n", 20)


def test_service_without_a_maximum_has_no_porter_and_refuses(world):
    with Service(prefix=world.prefix()) as s:
        reply = s.post("/v1/runs", {"code": "1", "language": "python", "network": {"allow": ["web.example.org:80"]}},
                       unix=True)
        assert reply.status == 403 and "network.max" in reply.error["message"], reply
        assert not [p for p in descendants(s.pid) if p.comm == "belljar-porter"]


@pytest.fixture(scope="module")
def small(world):
    """A service with small caps."""
    with Service("--set", f"network.max=*.example.org:80,*.example.org:7,inner.example.org:{OWN_PORT}",
                 "--set", f"network.private={PRIVATE},127.0.0.1",
                 "--set", "network.connections=3", "--set", "network.connections_total=8", "--set", "network.names=4",
                 "--set", "network.bytes_in=1000", "--set", "network.bytes_out=5000", listen=(f"127.0.0.1:{OWN_PORT}",),
                 prefix=world.prefix()) as s:
        yield s


def test_listener_of_the_service_is_never_reached(world, small):
    """The operator has opened 127.0.0.1 by its own entry. The port of the service stays closed."""
    world.name("inner.example.org", ["127.0.0.1"])
    lines = printed(small, f"print(attempt('inner.example.org'), attempt('inner.example.org', {OWN_PORT}), sep='\\n')",
                    "inner.example.org:80", f"inner.example.org:{OWN_PORT}")
    assert lines == ["a secret of the machine", "ConnectionResetError 104"]


def test_no_byte_beyond_the_cap_arrives(small):
    """The guest gets exactly the bytes of the cap, and then a reset. The next connection is refused."""
    code = """
s = socket.create_connection(('web.example.org', 7)); got = 0
try:
    s.sendall(b'x' * 1500)
    while piece := s.recv(100): got += len(piece)
except OSError as e: print(e.errno, got <= 1000)
print(attempt('web.example.org', 7))
t = socket.create_connection(('127.0.0.1', 53))  # its name server is still there
"""
    assert printed(small, code, "web.example.org:7") == ["104 True", "ConnectionRefusedError 111"]


def test_cap_of_bytes_is_exact(small):
    code = "print(len(attempt('web.example.org', 7, b'x' * 1000)))"
    assert printed(small, code, "web.example.org:7") == ["1000"]


def test_connections_beyond_a_cap_are_reset_or_refused(small):
    code = """
held = [socket.create_connection(('web.example.org', 7)) for _ in range(3)]
for s in held: s.sendall(b'x'); s.recv(1)
print(attempt('web.example.org', 7, b'x'))
for s in held: s.close()
import time
seen = []
for _ in range(200):
    seen.append(attempt('web.example.org', 7, b'x'))
    if seen[-1].startswith('ConnectionRefused'): break
    time.sleep(0.01)
print(seen.count('x') <= 5, seen[-1])
"""
    assert printed(small, code, "web.example.org:7") == ["ConnectionResetError 104", "True ConnectionRefusedError 111"]


def test_names_of_a_wildcard_are_bounded(small):
    code = """
ok = 0
for i in range(10):
    try: socket.gethostbyname(f'n{i}.example.org'); ok += 1
    except OSError: pass
print(ok)
"""
    assert printed(small, code, "*.example.org:7") == ["4"]


def alone(world, code, *options, prefix=()):
    return belljar("run", "--local", *options, "-l", "python", "-", stdin=(TRY + code).encode(),
                   prefix=[*world.prefix(), *prefix])


@pytest.mark.parametrize("level", ["jar", "rootless"])
def test_command_alone_has_a_porter_for_its_life(world, level):
    options = ["--allow-net", "web.example.org:80", "--allow-private", PRIVATE]
    prefix = [] if level == "jar" else as_ordinary_user()
    r = alone(world, "print(attempt('web.example.org'), attempt('other.example.org'))", *options, prefix=prefix)
    assert (r.status, r.out) == (0, b"hello gaierror -2\n"), r
    r = alone(world, "print(attempt('web.example.org'))", *options[:2], prefix=prefix)
    assert (r.status, r.out) == (0, b"ConnectionResetError 104\n"), r


def test_porter_that_says_nothing_does_not_hold_the_end_of_a_run(world, tmp_path):
    program = tmp_path / "wait.py"
    program.write_text("print('here', flush=True); input(); print('over')")
    with harness.Running([*world.prefix(), harness.BELLJAR, "run", "--local", "--allow-net", "web.example.org:80",
                          program], stdin=subprocess.PIPE) as running:
        assert running.read_line() == "here"
        porters = [p for p in descendants(running.pid) if p.comm == "belljar-porter"]
        assert len(porters) == 1, porters
        os.kill(porters[0].pid, signal.SIGSTOP)
        r = running.finish(b"\n", within=40)
    assert (r.status, r.out) == (0, b"over\n"), r
    assert not os.path.exists(f"/proc/{porters[0].pid}")


def test_level_process_refuses_a_list(world):
    r = alone(world, "print(1)", "--allow-net", "web.example.org", "--isolation", "process")
    assert r.status == 125 and b"needs isolation level jar or rootless" in r.err, r


def test_bash_itself_needs_no_variable(world):
    options = ["--allow-net", "web.example.org:80", "--allow-private", PRIVATE]
    r = belljar("run", "--local", *options, "-l", "bash", "-", stdin=b"exec 3<>/dev/tcp/web.example.org/80; cat <&3",
                prefix=world.prefix())
    assert (r.status, r.out) == (0, b"hello"), r
