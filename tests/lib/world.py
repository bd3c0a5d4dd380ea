"""A small internet for tests of the network: no packet leaves this machine.

    with World() as w:
        w.say(80, b"hello")
        w.name("web.example.org", WORLD)
        belljar("run", ..., prefix=w.prefix())

`World` makes two network namespaces with a veth between them. Belljar runs in `near`, whose only way leads to `world`.
In `world` are a DNS server (203.0.113.53) and the servers of the test, each at addresses of 203.0.113.0/24. The tests
open that range with network.private. Everything ends with the processes that hold the namespaces.
"""

import ctypes
import os
import shutil
import signal
import socket
import struct
import subprocess
import threading

import harness

NEAR, WORLD, DNS = "203.0.113.1", "203.0.113.2", "203.0.113.53"
PRIVATE = "203.0.113.0/24"
HOLD = ["sh", "-c", "echo; exec cat"]


def _enter(pid, *argv):
    return ["nsenter", f"--net=/proc/{pid}/ns/net", f"--mount=/proc/{pid}/ns/mnt", *argv]


class World:
    def __init__(self):
        self.holders, self.servers, self.zone, self.asked = [], [], {}, []
        self.accepting, self.programs = [], []
        self.ttl = 0  # of every answer, in seconds
        self.hostile = {}  # by name: a function of the true answer that yields the datagrams to send in its place
        self.scratch = harness.public_dir()
        self.lock = threading.Lock()

    def __enter__(self):
        try:
            self._build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _hold(self, *flags):
        p = subprocess.Popen(["unshare", *flags, "--", *HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.holders.append(p)
        assert p.stdout.readline()
        harness.started.add(p.pid)
        return p.pid

    def _build(self):
        self.near = self._hold("--net", "--mount")
        self.far = self._hold("--net", "--mount")
        conf = self.scratch / "resolv.conf"
        conf.write_text(f"nameserver {DNS}\n")
        ip = "ip"
        for argv in (
            _enter(self.near, ip, "link", "set", "lo", "up"),
            _enter(self.far, ip, "link", "set", "lo", "up"),
            _enter(self.near, ip, "link", "add", "near", "type", "veth", "peer", "name", "far", "netns", str(self.far)),
            _enter(self.near, ip, "addr", "add", f"{NEAR}/24", "dev", "near"),
            _enter(self.far, ip, "addr", "add", f"{WORLD}/24", "dev", "far"),
            _enter(self.far, ip, "addr", "add", f"{DNS}/24", "dev", "far"),
            _enter(self.near, ip, "link", "set", "near", "up"),
            _enter(self.far, ip, "link", "set", "far", "up"),
            _enter(self.near, ip, "route", "add", "default", "via", WORLD),
            _enter(self.near, "mount", "--bind", str(conf), "/etc/resolv.conf"),
        ):
            subprocess.run(argv, check=True, capture_output=True)
        self._start_dns()

    def __exit__(self, *_):
        for s, thread in self.accepting:  # a thread must not take a connection of the next world by an old number
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:  # the test has closed it
                continue
            thread.join()
        for s in self.servers:
            s.close()
        for p in self.programs:
            p.send_signal(signal.SIGINT)
            p.wait()
        for p in self.holders:
            p.stdin.close()
            p.stdout.close()
            p.wait()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def prefix(self):
        """Put before a command: it runs in `near`."""
        return _enter(self.near)

    # ---- servers ----

    def inside(self, argv):
        """Runs a command in `world`, until it ends."""
        subprocess.run(_enter(self.far, *argv), check=True, capture_output=True)

    def start(self, *argv, until):
        """A program in `world`, which has said this. It ends with the world."""
        p = subprocess.Popen(_enter(self.far, *argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, cwd="/")
        self.programs.append(p)
        harness.started.add(p.pid)
        said = b""
        while until not in said:
            line = p.stdout.readline()
            assert line, (argv, said)
            said += line
        threading.Thread(target=p.stdout.read, daemon=True).start()  # it never waits for us

    def socket(self, kind, address, port, near=False):
        """A bound socket in `world`, or in `near`. It belongs to that namespace in any process."""
        made = []

        def make():
            fd = os.open(f"/proc/{self.near if near else self.far}/ns/net", os.O_RDONLY)
            libc = ctypes.CDLL(None, use_errno=True)
            assert libc.setns(fd, 0x40000000) == 0, os.strerror(ctypes.get_errno())
            os.close(fd)
            s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if ":" in address:
                s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            s.bind((address, port))
            made.append(s)

        thread = threading.Thread(target=make)  # the namespace is that of the thread
        thread.start()
        thread.join()
        self.servers.append(made[0])
        return made[0]

    def address(self, address):
        subprocess.run(_enter(self.far, "ip", "addr", "replace", f"{address}/24", "dev", "far"), check=True)
        return address

    def listen(self, port, handler, address=WORLD, near=False):
        """Calls handler(connection) in a thread for each connection."""
        s = self.socket(socket.SOCK_STREAM, address, port, near)
        s.listen(128)

        def one(c):
            with c:
                try:
                    handler(c)
                except OSError:
                    pass

        def accept():
            while True:
                try:
                    c, _ = s.accept()
                except OSError:
                    return
                threading.Thread(target=one, args=(c,), daemon=True).start()

        self.accepting.append((s, threading.Thread(target=accept, daemon=True)))
        self.accepting[-1][1].start()
        return s

    def say(self, port, text, address=WORLD, near=False):
        """A server that sends the text at once."""
        def handler(c):
            c.sendall(text)
            c.shutdown(socket.SHUT_WR)
            while c.recv(65536):  # a close with bytes unread would be a reset
                pass

        return self.listen(port, handler, address, near)

    def echo(self, port, address=WORLD):
        def handler(c):
            while data := c.recv(65536):
                c.sendall(data)

        return self.listen(port, handler, address)

    # ---- DNS ----

    def name(self, name, *answers):
        """Addresses of a name. Several lists: the first question gets the first, and so on; the last one stays."""
        with self.lock:
            self.zone[name] = [list(a) if isinstance(a, (list, tuple)) else [a] for a in answers]

    def questions(self):
        with self.lock:
            return list(self.asked)

    def _answer(self, query):
        name, at = [], 12
        while query[at]:
            name.append(query[at + 1:at + 1 + query[at]].decode())
            at += 1 + query[at]
        kind = struct.unpack(">H", query[at + 1:at + 3])[0]
        name = ".".join(name).lower()
        with self.lock:
            self.asked.append(name)
            sets = self.zone.get(name)
            found = sets[0] if sets else None
            if sets and len(sets) > 1 and kind == 1:
                sets.pop(0)
        records = b""
        n = 0
        for a in found or []:
            if a.startswith("cname:"):
                target = b"".join(bytes([len(x)]) + x.encode() for x in a[6:].split(".")) + b"\0"
                records += b"\xc0\x0c" + struct.pack(">HHIH", 5, 1, self.ttl, len(target)) + target
                n += 1
                with self.lock:
                    inner = [x for x in self.zone.get(a[6:], [[]])[0] if ":" not in x]
                if kind == 1:
                    for x in inner:
                        records += target + struct.pack(">HHIH", 1, 1, self.ttl, 4) + socket.inet_aton(x)
                        n += 1
            elif ":" in a and kind == 28:
                records += b"\xc0\x0c" + struct.pack(">HHIH", 28, 1, self.ttl, 16)
                records += socket.inet_pton(socket.AF_INET6, a)
                n += 1
            elif ":" not in a and kind == 1:
                records += b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, self.ttl, 4) + socket.inet_aton(a)
                n += 1
        flags = 0x8180 if found is not None else 0x8183
        return query[:2] + struct.pack(">HHHHH", flags, 1, n, 0, 0) + query[12:at + 5] + records

    def _start_dns(self):
        s = self.socket(socket.SOCK_DGRAM, DNS, 53)

        def serve():
            while True:
                try:
                    query, who = s.recvfrom(4096)
                    answer = self._answer(query)
                    odd = self.hostile.get(self.asked[-1])
                    for packet in odd(answer) if odd else [answer]:
                        s.sendto(packet, who)
                except (OSError, IndexError, ValueError):
                    if s.fileno() < 0:
                        return

        threading.Thread(target=serve, daemon=True).start()
