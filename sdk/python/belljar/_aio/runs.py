"""Runs that were started before: the history, and one run by its id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, List, Optional, Union

from .._fields import stdin_piece
from .._http import part, path_of
from ..models import DebugReport, Event, OutputFile, Result, RunRequest, RunRow, RunState
from .streams import AsyncEventStream, AsyncRunStream, cancel_run, send_stdin
from .transport import BYTES, Transport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..models import HistoryFilter


class AsyncRun:
    """One run, by its id. It goes on whether or not a client looks at it."""

    def __init__(self, transport: Transport, run_id: str, approval: Optional[Any] = None) -> None:
        self._transport, self.id = transport, run_id
        self.approval = approval  #: the approval that it waits for, if a person has to decide
        self._path = f"/v1/runs/{part(run_id)}"

    def __repr__(self) -> str:
        return f"<run {self.id}>"

    async def state(self) -> Union[Result, RunState]:
        """Its result if it is over, otherwise its state and its output so far."""
        raw = await self._transport.call("GET", self._path)
        return Result(raw) if raw["state"] == "finished" else RunState(raw)

    def events(self, *, after: int = 0) -> AsyncEventStream[Event]:
        """Its events from the first one, or after the one with this number, to the last. A lost connection is
        made again."""
        return AsyncRunStream(self._transport, Event, "GET", self._path + "/events", query={"after": after},
                              resume=lambda seq: {"after": seq})

    async def result(self) -> Result:
        """Waits for its end."""
        async for _ in self.events():
            pass
        return Result(await self._transport.call("GET", self._path))

    async def write(self, data: Union[str, bytes] = "", *, eof: bool = False) -> None:
        """Sends input to a run with stdin_open. `eof` closes its stdin."""
        await send_stdin(self._transport, self._path + "/stdin", stdin_piece(data, eof))

    async def cancel(self) -> bool:
        """Cancels it. False: it was over already."""
        return await cancel_run(self._transport, self.id)

    async def stdout(self) -> bytes:
        """All bytes of stdout, also if a result has no room for all of them."""
        return await self._bytes("/stdout")

    async def stderr(self) -> bytes:
        """All bytes of stderr."""
        return await self._bytes("/stderr")

    async def files(self) -> List[OutputFile]:
        """The outputs that the request named."""
        return [OutputFile(raw) for raw in (await self._transport.call("GET", self._path + "/files"))["files"]]

    async def file(self, name: str) -> bytes:
        """One output."""
        return await self._bytes("/files/" + path_of(name))

    async def request(self) -> RunRequest:
        """The request, with its code: enough to run it again."""
        return RunRequest(await self._transport.call("GET", self._path + "/request"))

    async def debug_report(self) -> DebugReport:
        return DebugReport(await self._transport.call("GET", self._path + "/debug-report"))

    async def _bytes(self, path: str) -> bytes:
        return await (await self._transport.open("GET", self._path + path, accept=BYTES)).read()


class Runs:
    """The history: `jar.runs`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, run_id: str) -> AsyncRun:
        """A run by its id. Nothing is asked yet."""
        return AsyncRun(self._transport, run_id)

    async def list(self, **filter: "Unpack[HistoryFilter]") -> AsyncIterator[RunRow]:
        """The runs of the history, the newest first; pages are fetched as they are needed."""
        query = {**filter}
        while True:
            page = await self._transport.call("GET", "/v1/runs", query=query)
            for raw in page["runs"]:
                yield RunRow(raw)
            if not page["next_cursor"]:
                return
            query["cursor"] = page["next_cursor"]
