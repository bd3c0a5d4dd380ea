"""Events of the service as iterators."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Deque, Dict, Generic, Optional, Type, TypeVar, Union

from .._fields import stdin_piece
from .._http import part
from ..errors import Busy, ConnectionLost, ProtocolError
from ..models import CellEnd, CellEvent, Event, Model, Result
from .transport import NDJSON, Answer, Transport

if TYPE_CHECKING:
    from .sessions import AsyncSession

M = TypeVar("M", bound=Model)
S = TypeVar("S", bound="AsyncEventStream[Any]")
LINE_MAX = 96 << 20  # a cell has up to 64 MiB of outputs


class AsyncEventStream(Generic[M]):
    """Events, each as soon as it happens. The request is sent when the stream is entered, or asked for its first
    event. The end of `with`, or of a loop without it, closes the connection."""

    def __init__(self, transport: Transport, model: Type[M], method: str, path: str,
                 body: Optional[Dict[str, Any]] = None, query: Optional[Dict[str, Any]] = None,
                 resume: Optional[Callable[[int], Dict[str, Any]]] = None, waits: float = 0) -> None:
        self._transport, self._model = transport, model
        self._request = (method, path, body)
        self._query, self._resume, self._waits = query, resume, waits
        self._answer: Optional[Answer] = None
        self._lines: Optional[AsyncIterator[bytes]] = None
        self._ahead: Deque[M] = deque()  # events that were read and not yet given out
        self._over = self._entered = False
        self.seq = 0  #: the number of the last event

    async def __aenter__(self: S) -> S:
        self._entered = True
        await self._open()
        return self

    async def __aexit__(self, *exc: Any) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Leaves the stream. A run that this stream started is cancelled if it is not over."""
        self._over = True
        if self._answer:
            self._answer.close()

    async def __aiter__(self) -> AsyncIterator[M]:
        try:
            while True:
                event = await self._next()
                if event is None:
                    return
                yield event
        finally:
            if not self._entered:
                await self.aclose()

    async def _open(self) -> None:
        if self._answer is None and not self._over:
            method, path, body = self._request
            self._answer = await self._transport.open(method, path, body, query=self._query, accept=NDJSON)
            self._lines = lines_of(self._answer)

    async def _next(self) -> Optional[M]:
        resumes = 0
        while not self._over:
            try:
                await self._open()
                if self._ahead:
                    return self._ahead.popleft()
                event = await self._read()
            except ConnectionLost:
                if not self._resume or resumes == self._transport.config.retries:
                    raise
                self._query, self._answer = self._resume(self.seq), None
                await asyncio.sleep(0.1 * 2**resumes)
                resumes += 1
                continue
            if event is not None:
                self.seq = event.raw.get("seq", self.seq)
                self._take(event)
                return event
        return None

    async def _read(self) -> Optional[M]:
        assert self._lines is not None
        async for line in self._lines:
            raw = event_of(line)
            if raw["event"] != "keepalive":
                return self._model(raw)
        if self._is_incomplete():
            raise ConnectionLost("the service ended the stream before the event 'done'")
        self._over = True
        return None

    def _is_incomplete(self) -> bool:
        return False

    def _take(self, event: M) -> None:
        pass


def event_of(line: bytes) -> Dict[str, Any]:
    try:
        raw = json.loads(line)
    except ValueError as e:
        raise ProtocolError(f"the stream has a line {line[:40]!r} that is not JSON") from e
    if not isinstance(raw, dict) or not isinstance(raw.get("event"), str):
        raise ProtocolError(f"the stream has a line {line[:40]!r} that is no event")
    return raw


async def lines_of(answer: Answer) -> AsyncIterator[bytes]:
    if not answer.headers.get("content-type", "").startswith(NDJSON):
        kind = answer.headers.get("content-type")
        answer.close()
        raise ProtocolError(f"the answer is {kind!r} and not a stream of events")
    held = bytearray()
    async for piece in answer.pieces():
        first, *lines = piece.split(b"\n")
        held += first
        if len(held) > LINE_MAX:
            raise ProtocolError(f"the stream has an event of more than {LINE_MAX} bytes")
        for line in lines:
            if held:
                yield bytes(held)
            held = bytearray(line)


class AsyncRunStream(AsyncEventStream[Event]):
    """The events of one run. `id` is known once the stream is entered, `result` after the last event."""

    id: Optional[str] = None
    result: Optional[Result] = None

    async def _open(self) -> None:
        first = self._answer is None
        await super()._open()
        if first and self.id is None and not self._over:
            event = await self._read()
            if event is not None:
                self._take(event)
                self._ahead.append(event)

    def _take(self, event: Event) -> None:
        self.id = event.raw.get("id", self.id)
        if event.raw.get("event") == "done":
            self.result = event.result

    def _is_incomplete(self) -> bool:
        return self.result is None

    async def write(self, data: Union[str, bytes] = "", *, eof: bool = False) -> None:
        """Sends input to a run with stdin_open. `eof` closes its stdin."""
        await self._open()
        await send_stdin(self._transport, f"/v1/runs/{part(self.id)}/stdin", stdin_piece(data, eof))

    async def cancel(self) -> bool:
        """Cancels the run; its events go on to the end. False: it was over already."""
        await self._open()
        return await cancel_run(self._transport, str(self.id))


class AsyncCellStream(AsyncEventStream[CellEvent]):
    """The events of one cell. `result` is its end, without its outputs: `session.cell(result.cell)` has them."""

    session: "AsyncSession"
    id: Optional[str] = None
    result: Optional[CellEnd] = None

    def _take(self, event: CellEvent) -> None:
        self.id = event.raw.get("id", self.id)
        if event.raw.get("event") == "done":
            self.result = event.result

    def _is_incomplete(self) -> bool:
        return self.result is None

    async def reply(self, text: str) -> None:
        """Answers input(), after an event `input_request`."""
        await self.session.reply(text)

    async def interrupt(self) -> None:
        """Interrupts the cell; its events go on to the end."""
        await self.session.interrupt()


async def cancel_run(transport: Transport, run_id: str) -> bool:
    from ..errors import Conflict

    try:
        await transport.call("DELETE", f"/v1/runs/{part(run_id)}")
        return True
    except Conflict:
        return False


async def send_stdin(transport: Transport, path: str, piece: Dict[str, Any]) -> None:
    """The service takes the next piece when the program has read the last one: 503 until then."""
    while True:
        try:
            await transport.call("POST", path, piece, waits_for_room=False)
            return
        except Busy:
            await asyncio.sleep(0.05)
