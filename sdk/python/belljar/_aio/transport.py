"""Requests and answers over a pool of connections. The rules of retries are here, and only here."""

from __future__ import annotations

import asyncio
import json
import os
from collections import deque
from typing import Any, AsyncIterator, Deque, Mapping, Optional, Tuple
from time import monotonic
from urllib.parse import urlencode

from .._config import LONG_PATIENCE, PATIENCE, Config
from .._http import HEAD_MAX, LARGE_BODY, LINE_MAX, PIECE, Head, chunk_size, parse_head, request_head
from ..errors import BelljarError, ConnectionFailed, ConnectionLost, ProtocolError, TimedOut, api_error
from .wire import Wire

KEPT = 16  # connections that wait for their next request
KEPT_FOR = 30.0  # seconds; the service closes them after 75
#: A request that may be sent again if its connection was lost: it has the same effect twice.
REPEATABLE = {"GET", "HEAD", "DELETE", "PUT"}
JSON, NDJSON, BYTES = "application/json", "application/x-ndjson", "application/octet-stream"


class Answer:
    """The head of an answer; its body is read from the connection."""

    def __init__(self, transport: "Transport", wire: Wire, head: Head) -> None:
        self.status, self.headers, self._head = head.status, head.headers, head
        self._transport, self._wire = transport, wire
        self._body: Optional[bytes] = None  # once it was read
        self._over = False  # the connection is no longer ours

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body. If it is not read to its end, the connection is closed."""
        wire, left, whole = self._wire, self._head.length, False
        if self._over:
            return
        try:
            if left is None:
                while True:
                    size = chunk_size(await wire.until(b"\r\n", LINE_MAX))
                    if size == 0:
                        break
                    yield await wire.exactly(size)
                    if await wire.exactly(2) != b"\r\n":
                        raise ProtocolError("a chunk of the answer has another size than it says")
                if await wire.until(b"\r\n", LINE_MAX) != b"":
                    raise ProtocolError("the answer has trailers, which are not understood")
            else:
                while left > 0:
                    piece = await wire.some(min(left, PIECE))
                    left -= len(piece)
                    yield piece
            whole = True
        finally:
            if whole and self._head.keeps and not self._over:
                self._transport.keep(wire)
            elif not self._over:
                wire.close()
            self._over = True

    async def read(self) -> bytes:
        if self._body is None:
            body = []
            async for piece in self.pieces():
                body.append(piece)
            self._body = b"".join(body)
        return self._body

    async def json(self) -> Any:
        body = await self.read()
        if not self.headers.get("content-type", "").startswith(JSON):
            kind = self.headers.get("content-type")
            raise ProtocolError(f"the answer is {kind!r} and not JSON; is a belljar service there?")
        try:
            return json.loads(body)
        except ValueError as e:
            raise ProtocolError(f"the answer is not JSON: {e}") from e

    def close(self) -> None:
        """Closes the connection, unless the answer was read to its end."""
        if not self._over:
            self._over = True
            self._wire.close()


class Transport:
    def __init__(self, config: Config) -> None:
        self.config = config
        self._idle: Deque[Tuple[Wire, float]] = deque()
        self._process = os.getpid()
        self._closed = False

    async def call(self, method: str, path: str, body: Any = None, *, query: Optional[Mapping[str, Any]] = None,
                   waits: float = 0, waits_for_room: bool = True) -> Any:
        """The JSON of an answer, or None if it has no body. `waits`: a program runs before the answer; seconds that
        it may take, or 1."""
        answer = await self.open(method, path, body, query=query, waits=waits, waits_for_room=waits_for_room)
        if answer.status == 204:
            await answer.read()
            return None
        return await answer.json()

    async def open(self, method: str, path: str, body: Any = None, *, query: Optional[Mapping[str, Any]] = None,
                   raw: Optional[bytes] = None, accept: str = JSON, waits: float = 0,
                   waits_for_room: bool = True, repeats: bool = True) -> Answer:
        """An answer that is a success, with its body unread. Every other answer is raised as its error."""
        if query:
            path += "?" + urlencode({k: str(v).lower() if v is True or v is False else v for k, v in query.items()})
        kind, data = (BYTES, raw) if raw is not None else (JSON, None if body is None else json.dumps(body).encode())
        head = request_head(self.config, method, path, accept, None if data is None else len(data), kind)
        patience = self.config.timeout or (max(LONG_PATIENCE, waits + PATIENCE) if waits else PATIENCE)
        attempt = 0
        while True:
            left = attempt < self.config.retries
            delay = 0.1 * 2**attempt
            attempt += 1
            try:
                answer = await self._once(method, head, data, patience)
            except ConnectionFailed:
                if not left:
                    raise
            except TimedOut:
                raise
            except ConnectionLost:
                if not left or not repeats or method not in REPEATABLE:
                    raise
            else:
                error = await self._error(answer)
                if error is None:
                    return answer
                after = getattr(error, "retry_after", None)
                if method == "DELETE" and attempt > 1 and answer.status in (404, 410):
                    return answer  # the attempt whose answer was lost had its effect
                if answer.status != 503 or after is None or not left or not waits_for_room:
                    raise error
                delay = after
            await asyncio.sleep(delay)

    async def _error(self, answer: Answer) -> Optional[BelljarError]:
        if 200 <= answer.status < 300:
            return None
        if answer.headers.get("content-type", "").startswith(JSON):
            return api_error(answer.status, answer.headers, await answer.json())
        answer.close()
        return api_error(answer.status, answer.headers, None)

    async def _once(self, method: str, head: bytes, data: Optional[bytes], patience: float) -> Answer:
        wire = self._take() or await Wire.open(self.config.address)
        wire.patience = patience
        try:
            return Answer(self, wire, await self._exchange(wire, method, head, data))
        except BaseException:
            wire.close()
            raise

    async def _exchange(self, wire: Wire, method: str, head: bytes, data: Optional[bytes]) -> Head:
        if data is None or len(data) <= LARGE_BODY:
            await wire.write(head + (data or b""))
        else:
            await wire.write(head)
            early = await self._read_head(wire, method)
            if early.status != 100:
                return early._replace(keeps=False)
            await wire.write(data)
        answer = await self._read_head(wire, method)
        while answer.status < 200:
            answer = await self._read_head(wire, method)
        return answer

    async def _read_head(self, wire: Wire, method: str) -> Head:
        return parse_head(await wire.until(b"\r\n\r\n", HEAD_MAX), method)

    # ---- the pool ----

    def _take(self) -> Optional[Wire]:
        if self._closed:
            raise BelljarError("the client is closed")
        if self._process != os.getpid():  # connections of the process that this one was forked from
            self._idle, self._process = deque(), os.getpid()
        while True:
            try:
                wire, since = self._idle.pop()
            except IndexError:
                return None
            if monotonic() - since < KEPT_FOR and not wire.is_stale():
                return wire
            wire.close()

    def keep(self, wire: Wire) -> None:
        if self._closed or len(self._idle) >= KEPT or self._process != os.getpid():
            wire.close()
        else:
            self._idle.append((wire, monotonic()))

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._idle.pop()[0].close()
