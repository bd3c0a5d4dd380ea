"""The bytes of one connection, for threads that wait."""

from __future__ import annotations

import select
import socket
import ssl
from typing import Optional

from .._config import Address
from ..errors import ConnectionFailed, ConnectionLost, ProtocolError, TimedOut

CONNECTS_WITHIN = 10.0
AT_A_TIME = 256 << 10


class Wire:
    def __init__(self, address: Address, sock: socket.socket) -> None:
        self.address, self._sock = address, sock
        self.patience: Optional[float] = None  # seconds that one step may take
        self._held = bytearray()

    @classmethod
    def open(cls, address: Address) -> "Wire":
        try:
            if address.path:
                sock = socket.socket(socket.AF_UNIX)
                sock.settimeout(CONNECTS_WITHIN)
                sock.connect(address.path)
            else:
                sock = socket.create_connection((address.host, address.port), CONNECTS_WITHIN)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if address.tls:
                sock = ssl.create_default_context().wrap_socket(sock, server_hostname=address.host)
        except OSError as e:
            raise ConnectionFailed(f"no belljar service at {address.name}: {e}") from e
        return cls(address, sock)

    def write(self, data: bytes) -> None:
        try:
            self._sock.settimeout(self.patience)
            self._sock.sendall(data)
        except OSError as e:
            raise self._lost(e) from e

    def until(self, mark: bytes, most: int) -> bytes:
        """The bytes before the mark, at most so many."""
        while True:
            at = self._held.find(mark)
            if at >= 0:
                piece = bytes(self._held[:at])
                del self._held[:at + len(mark)]
                return piece
            if len(self._held) > most:
                raise ProtocolError(f"the answer has a line or a head of more than {most} bytes")
            self._fill()

    def exactly(self, n: int) -> bytes:
        while len(self._held) < n:
            self._fill()
        return self._take(n)

    def some(self, most: int) -> bytes:
        if not self._held:
            self._fill()
        return self._take(min(most, len(self._held)))

    def is_stale(self) -> bool:
        """The service closed it, or sent something that nobody asked for."""
        poll = select.poll()
        poll.register(self._sock, select.POLLIN)
        return bool(self._held) or bool(poll.poll(0))

    def close(self) -> None:
        self._sock.close()

    def _take(self, n: int) -> bytes:
        piece = bytes(self._held[:n])
        del self._held[:n]
        return piece

    def _fill(self) -> None:
        try:
            self._sock.settimeout(self.patience)
            piece = self._sock.recv(AT_A_TIME)
        except OSError as e:
            raise self._lost(e) from e
        if not piece:
            raise self._lost(None)
        self._held += piece

    def _lost(self, e: Optional[OSError]) -> ConnectionLost:
        if isinstance(e, socket.timeout):
            return TimedOut(f"the service at {self.address.name} sent nothing for {self.patience:g} s")
        return ConnectionLost(f"the service at {self.address.name} ended the connection before its answer was complete")
