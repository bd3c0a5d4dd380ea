"""Listeners of the host and of other jars: abstract and named unix sockets, loopback, every address of the machine."""

import os
import socket
import subprocess

import pytest

from harness import MARK, PRELUDE, attack, let_through, public_dir, start


@pytest.fixture
def listeners():
    """Addresses on which this process listens: (family name, address)."""
    where = public_dir()
    where.chmod(0o777)
    addresses = [("AF_UNIX", "\0" + MARK), ("AF_UNIX", str(where / "socket")), ("AF_INET", ("127.0.0.1", 0)),
                 ("AF_INET", ("0.0.0.0", 0)), ("AF_INET6", ("::1", 0))]
    sockets, found = [], []
    for family, address in addresses:
        try:
            s = socket.socket(getattr(socket, family), socket.SOCK_STREAM)
            s.bind(address)
            s.listen(16)
        except OSError:
            continue
        sockets.append(s)
        found.append((family, s.getsockname() if family != "AF_UNIX" else address))
    if os.path.exists(where / "socket"):
        os.chmod(where / "socket", 0o777)
    yield found
    for s in sockets:
        s.close()
    if os.path.exists(where / "socket"):
        os.unlink(where / "socket")
    where.rmdir()


CONNECT = """
def connect(family, address):
    s = socket.socket(getattr(socket, family), socket.SOCK_STREAM); s.settimeout(2)
    s.connect(tuple(address[:2]) if isinstance(address, list) else address); return "connected"
for family, address in json.loads({!r}):
    found[f"{{family}} {{address!r}}"] = attempt(connect, family, address)
"""


def test_host_listeners_cannot_be_reached(listeners):
    import json

    assert len(listeners) >= 3
    for family, address in listeners:  # the control: they do listen
        with socket.socket(getattr(socket, family), socket.SOCK_STREAM) as s:
            s.connect(address if isinstance(address, str) else address[:2])
    found, _ = attack(CONNECT.format(json.dumps(listeners)))
    assert len(found) == len(listeners) and not let_through(found), found


def test_no_way_out_by_any_address():
    """R4.2: no interface but loopback, no route, no name resolved"""
    found, _ = attack("""
def tcp(host, port=80):
    s = socket.socket(socket.AF_INET6
                      if ":" in host else socket.AF_INET); s.settimeout(2); s.connect((host, port)); return "connected"
def udp(host):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b"x", (host, 53)); return "sent"
for host in ("1.1.1.1", "8.8.8.8", "169.254.169.254", "10.0.0.1", "192.168.0.1", "172.17.0.1", "2606:4700:4700::1111",
             "224.0.0.1"):
    found["tcp " + host] = attempt(tcp, host)
    if ":" not in host: found["udp " + host] = attempt(udp, host)
try: found["name"] = "ok: %r" % (socket.getaddrinfo("example.com", 80),)
except OSError as e: found["name"] = "E " + str(e)
""")
    assert len(found) >= 15 and not let_through(found), found


LISTENER = PRELUDE + """
up = []
try:
    s = socket.create_server(("127.0.0.1", 45454)); up.append("tcp")
    socket.create_connection(("127.0.0.1", 45454)).close()
    t = socket.socket(socket.AF_UNIX); t.bind("\\0jar-sibling"); t.listen(); up.append("abstract")
    open("/tmp/sibling", "w").write("x"); open("/dev/shm/sibling", "w").write("x")
except OSError as e:
    up.append(name_of(e.errno))
print("LISTENING", *up, flush=True)
time.sleep(60)
"""


def test_a_sibling_jar_cannot_be_reached():
    """Two jars share no socket, no memory and no file while they run."""
    with start(LISTENER, json=False, timeout="50s", stdin=subprocess.DEVNULL) as sibling:
        line = sibling.read_line()
        assert line.startswith("LISTENING"), line
        found, _ = attack("""
def connect(family, address):
    s = socket.socket(family); s.settimeout(2); s.connect(address); return "connected"
found["tcp"] = attempt(connect, socket.AF_INET, ("127.0.0.1", 45454))
found["abstract"] = attempt(connect, socket.AF_UNIX, "\\0jar-sibling")
for d in ("/tmp/sibling", "/dev/shm/sibling"): found[d] = attempt(os.stat, d)
found["sysv"] = sys_call(29, 4242, 4096, 0o666)
""")
        assert not let_through(found), found


def test_sysv_and_posix_ipc_are_not_shared(sealed):
    """A segment of one jar is not there in the next."""
    make = """
found["shm"] = sys_call(29, 4242, 4096, 0o1666)
found["msg"] = sys_call(68, 4242, 0o1666)
found["sem"] = sys_call(64, 4242, 1, 0o1666)
"""
    attack(make)
    found, _ = attack("found['shm'] = sys_call(29, 4242, 4096, 0); found['msg'] = sys_call(68, 4242, 0); found['sem'] "
                      "= sys_call(64, 4242, 1, 0)")
    assert not let_through(found), found
