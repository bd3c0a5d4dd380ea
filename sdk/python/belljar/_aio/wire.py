"""The bytes of one connection, for asyncio."""

from __future__ import annotations

import asyncio
import ssl
from typing import Awaitable, Optional, TypeVar

from .._config import Address
from .._http import HEAD_MAX
from ..errors import ConnectionFailed, ConnectionLost, ProtocolError, TimedOut

T = TypeVar("T")
CONNECTS_WITHIN = 10.0


class Wire:
    def __init__(self, address: Address, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.address, self._reader, self._writer = address, reader, writer
        self.patience: Optional[float] = None  # seconds that one step may take
        self._expired = False

    @classmethod
    async def open(cls, address: Address) -> "Wire":
        tls = ssl.create_default_context() if address.tls else None
        opening = (asyncio.open_unix_connection(address.path, limit=HEAD_MAX) if address.path else
                   asyncio.open_connection(address.host, address.port, limit=HEAD_MAX, ssl=tls))
        try:
            reader, writer = await asyncio.wait_for(opening, CONNECTS_WITHIN)
        except (OSError, asyncio.TimeoutError) as e:
            reason = str(e) or f"no answer for {CONNECTS_WITHIN:g} s"
            raise ConnectionFailed(f"no belljar service at {address.name}: {reason}") from e
        return cls(address, reader, writer)

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._within(self._writer.drain())

    async def until(self, mark: bytes, most: int) -> bytes:
        """The bytes before the mark, at most so many."""
        try:
            piece = await self._within(self._reader.readuntil(mark))
        except asyncio.LimitOverrunError as e:
            raise ProtocolError(f"the answer has more than {HEAD_MAX} bytes of headers") from e
        if len(piece) > most:
            raise ProtocolError(f"the answer has a line of {len(piece)} bytes")
        return piece[:-len(mark)]

    async def exactly(self, n: int) -> bytes:
        return await self._within(self._reader.readexactly(n))

    async def some(self, most: int) -> bytes:
        piece = await self._within(self._reader.read(most))
        if not piece:
            raise self._lost()
        return piece

    def is_stale(self) -> bool:
        """The service closed it, or sent something that nobody asked for."""
        return self._reader.at_eof() or self._writer.is_closing() or bool(getattr(self._reader, "_buffer", b""))

    def close(self) -> None:
        self._writer.transport.abort()

    async def _within(self, step: Awaitable[T]) -> T:
        timer = None
        if self.patience is not None:
            timer = asyncio.get_running_loop().call_later(self.patience, self._expire)
        try:
            return await step
        except (OSError, asyncio.IncompleteReadError) as e:
            raise self._lost() from e
        finally:
            if timer:
                timer.cancel()

    def _expire(self) -> None:
        self._expired = True
        self.close()

    def _lost(self) -> ConnectionLost:
        if self._expired:
            return TimedOut(f"the service at {self.address.name} sent nothing for {self.patience:g} s")
        return ConnectionLost(f"the service at {self.address.name} ended the connection before its answer was complete")
