"""Connections to ports of a sandbox for its helper (belljar_helper.py): bytes of the host go to a program that listens in
the sandbox, and its bytes to the host."""
import errno
import selectors
import socket

from belljar_files import CHUNK, Refused

ADDRESSES = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
WINDOW = 512 << 10  # bytes on their way to the host, until it has taken some
CONNECT_S = 10


class Tunnel:
    def __init__(self, helper, one, port, data):
        self.helper, self.one, self.port, self.left = helper, one, port, WINDOW
        self.waiting, self.given, self.connected, self.socket, self.events = [memoryview(data)], 0, False, None, 0
        self.addresses = list(ADDRESSES)
        helper.tunnels[one] = self
        helper.at(CONNECT_S, self.late)
        self.try_next()

    def try_next(self):
        """A program may listen on one of the two addresses of the loopback alone."""
        while self.addresses and not self.connected:
            self.leave()
            family, address = self.addresses.pop(0)
            try:
                self.socket = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
                code = self.socket.connect_ex((address, self.port))
            except (OSError, OverflowError):
                continue
            if code == errno.EINPROGRESS:
                self.want(selectors.EVENT_WRITE)
                return
            self.connected = code == 0
        if self.connected:
            self.begin()
        else:
            self.fail()

    def late(self):
        if not self.connected and self.one in self.helper.tunnels:
            self.fail()

    def fail(self):
        self.close()
        self.helper.fail(self.one, Refused("unavailable", f"no program listens on port {self.port}"))

    def begin(self):
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.write()

    def want(self, events):
        if self.events and not events:
            self.helper.selector.unregister(self.socket)
        elif self.events and events != self.events:
            self.helper.selector.modify(self.socket, events, self.ready)
        elif events and not self.events:
            self.helper.selector.register(self.socket, events, self.ready)
        self.events = events

    def look(self):
        self.want((selectors.EVENT_READ if self.left > 0 else 0) | (selectors.EVENT_WRITE if self.waiting else 0))

    def ready(self, mask):
        if not self.connected:
            self.connected = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
            if not self.connected:
                self.try_next()
                return
            self.begin()
        elif mask & selectors.EVENT_WRITE:
            self.write()
        if mask & selectors.EVENT_READ and self.one in self.helper.tunnels:
            self.read()

    def read(self):
        try:
            data = self.socket.recv(min(CHUNK, self.left))
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            self.helper.peer.send({"id": self.one, "end": True})
            return
        self.left -= len(data)
        self.helper.peer.send({"id": self.one, "chunk": True}, data)
        self.look()

    def write(self):
        while self.waiting:
            try:
                n = self.socket.send(self.waiting[0])
            except BlockingIOError:
                break
            except OSError:  # the program reads no more, and may have answered
                self.waiting.clear()
                break
            self.given += n
            self.waiting[0] = self.waiting[0][n:]
            if not self.waiting[0]:
                del self.waiting[0]
        if self.given:
            self.helper.peer.send({"id": self.one, "took": self.given})
            self.given = 0
        self.look()

    def take(self, credit, data):
        self.left += credit
        if data:
            self.waiting.append(memoryview(data))
        if self.connected:
            self.write()

    def leave(self):
        if self.socket is not None:
            self.want(0)
            self.socket.close()
            self.socket = None

    def close(self):
        self.helper.tunnels.pop(self.one, None)
        self.leave()
