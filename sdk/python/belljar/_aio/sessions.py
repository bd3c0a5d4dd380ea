"""Sessions: an interpreter in a jar that keeps its variables from cell to cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, List, Optional, Sequence, Union

from .._fields import fields, seconds
from .._http import part, path_of
from ..errors import NotFound, SessionEnded
from ..models import (BranchEvent, Branches, Cell, CellAccepted, CellEvent, Checkpoint, Completions, Fork, Inspection,
                      Rollback, SessionEvent, SessionFile, Tree, Variable, Wake)
from ..models import Session as SessionState
from .streams import AsyncCellStream, AsyncEventStream
from .transport import BYTES, Transport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._model import NetworkOption
    from ..models import BranchOptions, CellOptions, SessionChanges, SessionFilter


class AsyncSession:
    """A live interpreter. `state` is the last answer of the service about it; `refresh` asks again."""

    def __init__(self, transport: Transport, state: SessionState) -> None:
        self._transport, self.state = transport, state
        self.id: str = state.raw["id"]
        self._path = f"/v1/sessions/{part(self.id)}"

    def __repr__(self) -> str:
        return f"<session {self.id} of {self.state.language}>"

    async def __aenter__(self) -> "AsyncSession":
        return self

    async def __aexit__(self, *exc: Any) -> None:
        await self.end()

    async def _get(self, path: str, /, **query: Any) -> Any:
        query = {key: value for key, value in query.items() if value is not None}
        return await self._transport.call("GET", self._path + path, query=query)

    async def _post(self, path: str, /, waits: float = 0, **given: Any) -> Any:
        return await self._transport.call("POST", self._path + path, fields(given), waits=waits)

    # ---- cells ----

    async def run(self, code: str, *, check: bool = False, **options: "Unpack[CellOptions]") -> Cell:
        """Runs a cell and waits for its end. `check` raises ProgramFailed if it fails. If the caller leaves before the
        end, by an exception or a cancelled task, the cell is interrupted."""
        body = fields({"cancel_on_disconnect": True, **options}, code=code)
        cell = Cell(await self._transport.call("POST", self._path + "/exec", body, waits=seconds(body)))
        return cell.check() if check else cell

    def stream(self, code: str, **options: "Unpack[CellOptions]") -> AsyncCellStream:
        """Runs a cell; its events are an iterator."""
        body = fields({"cancel_on_disconnect": True, **options}, code=code, stream=True)
        stream = AsyncCellStream(self._transport, CellEvent, "POST", self._path + "/exec", body)
        stream.session = self
        return stream

    async def start(self, code: str, **options: "Unpack[CellOptions]") -> CellAccepted:
        """Puts a cell in line and does not wait: `events` and `cell` have the rest."""
        return CellAccepted(await self._post("/exec", code=code, wait=False, **options))

    async def cell(self, number: int) -> Cell:
        """A cell that is over, with its outputs."""
        return Cell(await self._get(f"/cells/{number}"))

    async def cells(self, *, limit: Optional[int] = None, after: Optional[int] = None) -> List[Cell]:
        """The newest cells with code and outputs, or those after a number."""
        return [Cell(raw) for raw in (await self._get("/cells", limit=limit, after=after))["cells"]]

    def events(self, cell: int, *, after: int = 0) -> AsyncCellStream:
        """The events of a cell from the first one, or after the one with this number."""
        stream = AsyncCellStream(self._transport, CellEvent, "GET", f"{self._path}/cells/{cell}/events",
                                 query={"from": after}, resume=lambda seq: {"from": seq})
        stream.session = self
        return stream

    async def reply(self, text: str = "", *, eof: bool = False) -> None:
        """Answers input() with a line. `eof`: there is no more input."""
        await self._post("/stdin", **({"eof": True} if eof else {"text": text}))

    async def interrupt(self, cell: Optional[int] = None) -> None:
        """Interrupts the cell that runs. Its variables stay."""
        await self._post("/interrupt", cell=cell)

    async def restart(self) -> None:
        """Starts the interpreter anew: without variables, with the files that the session began with."""
        self.state = SessionState(await self._transport.call("POST", self._path + "/restart", waits=1))

    # ---- questions ----

    async def complete(self, code: str, cursor: Optional[int] = None) -> Completions:
        return Completions(await self._post("/complete", code=code, cursor=cursor))

    async def inspect(self, code: str, cursor: Optional[int] = None, *, detail: int = 0) -> Inspection:
        return Inspection(await self._post("/inspect", code=code, cursor=cursor, detail=detail))

    async def variables(self) -> List[Variable]:
        return [Variable(raw) for raw in (await self._get("/variables"))["variables"]]

    async def notebook(self) -> Dict[str, Any]:
        """Its cells as a Jupyter notebook."""
        return await self._get("/notebook")

    # ---- files ----

    async def files(self, path: Optional[str] = None) -> List[SessionFile]:
        """The files in /sandbox, or in one directory of it."""
        return [SessionFile(raw) for raw in (await self._get("/files", path=path))["files"]]

    async def read(self, path: str) -> bytes:
        return await (await self._transport.open("GET", f"{self._path}/files/{path_of(path)}", accept=BYTES)).read()

    async def write(self, path: str, data: Union[str, bytes]) -> None:
        """Writes a file; its directories are made."""
        raw = data.encode() if isinstance(data, str) else bytes(data)
        await (await self._transport.open("PUT", f"{self._path}/files/{path_of(path)}", raw=raw)).read()

    async def remove(self, path: str) -> None:
        await self._transport.call("DELETE", f"{self._path}/files/{path_of(path)}")

    # ---- time travel ----

    async def fork(self, count: int = 1, *, names: Optional[Sequence[str]] = None, strict: Optional[bool] = None,
                   network: "Optional[NetworkOption]" = None,
                   from_: Union[str, int, None] = None) -> "List[AsyncSession]":
        """Copies with all variables and files, of the present state or `from_` a checkpoint."""
        given = {"count": count, "names": names, "strict": strict, "network": network, "from": from_}
        fork = Fork(await self._post("/fork", waits=1, **given))
        return [AsyncSession(self._transport, copy) for copy in fork.sessions]

    async def branches(self, candidates: Sequence[str], **options: "Unpack[BranchOptions]") -> Branches:
        """Runs candidates side by side in copies, and goes on as the winner: `keep` is "first_ok", "best" with a
        `score`, or "none"."""
        return Branches(await self._post("/branches", waits=1, candidates=list(candidates), **options))

    def stream_branches(self, candidates: Sequence[str],
                        **options: "Unpack[BranchOptions]") -> AsyncEventStream[BranchEvent]:
        body = fields({**options}, candidates=list(candidates), stream=True)
        return AsyncEventStream(self._transport, BranchEvent, "POST", self._path + "/branches", body)

    async def checkpoint(self, name: Optional[str] = None, *, strict: Optional[bool] = None) -> Checkpoint:
        """Keeps the present state."""
        return Checkpoint(await self._post("/checkpoints", waits=1, name=name, strict=strict))

    async def checkpoints(self) -> List[Checkpoint]:
        return [Checkpoint(raw) for raw in (await self._get("/checkpoints"))["checkpoints"]]

    async def delete_checkpoint(self, name: str) -> None:
        await self._transport.call("DELETE", f"{self._path}/checkpoints/{part(name)}")

    async def rollback(self, to: Union[str, int]) -> Rollback:
        """Goes back to a checkpoint, by its id or name, or to the state after a cell, by its number."""
        return Rollback(await self._post("/rollback", waits=1, to=to))

    async def undo(self, cells: int = 1) -> Rollback:
        """Goes back before the last cell, or the last `cells`. The session needs `undo=N`."""
        return Rollback(await self._post("/undo", waits=1, cells=cells))

    async def tree(self) -> Tree:
        """The session, the sessions that it came from, their copies and checkpoints."""
        return Tree(await self._get("/tree"))

    async def sleep(self, *, strict: Optional[bool] = None, compress: Optional[bool] = None) -> List[str]:
        """Puts the session on the disk; the next cell wakes it. The answer names things that are lost."""
        raw = await self._post("/sleep", waits=1, strict=strict, compress=compress)
        self.state = SessionState(raw)
        return raw["not_carried"]

    async def wake(self, *, replay: Optional[bool] = None) -> Wake:
        wake = Wake(await self._post("/wake", waits=1, replay=replay))
        self.state = SessionState(wake.raw)
        return wake

    async def image(self, *, compress: bool = False) -> bytes:
        """The session as a file: `jar.sessions.load` makes a session of it."""
        query = {"compress": True} if compress else None
        return await (await self._transport.open("GET", self._path + "/image", query=query, accept=BYTES,
                                                 waits=1)).read()

    # ---- its life ----

    async def refresh(self) -> SessionState:
        self.state = SessionState(await self._get(""))
        return self.state

    async def update(self, **changes: "Unpack[SessionChanges]") -> SessionState:
        """Changes its name, limits of cells, idle time, undo, network list or metadata."""
        self.state = SessionState(await self._transport.call("PATCH", self._path, {**changes}))
        return self.state

    def life(self) -> AsyncEventStream[SessionEvent]:
        """The states of the session as a stream, with a warning before its end."""
        return AsyncEventStream(self._transport, SessionEvent, "GET", self._path + "/events")

    async def end(self) -> None:
        """Ends it. A session that is over already stays so."""
        try:
            await self._transport.call("DELETE", self._path)
        except (NotFound, SessionEnded):
            pass


class Sessions:
    """The sessions of the service: `jar.sessions`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def get(self, session_id: str) -> AsyncSession:
        return AsyncSession(self._transport,
                            SessionState(await self._transport.call("GET", f"/v1/sessions/{part(session_id)}")))

    async def list(self, **filter: "Unpack[SessionFilter]") -> "List[AsyncSession]":
        answer = await self._transport.call("GET", "/v1/sessions", query={**filter})
        return [AsyncSession(self._transport, SessionState(raw)) for raw in answer["sessions"]]

    async def load(self, image: bytes) -> AsyncSession:
        """A session from a file of `session.image()`."""
        answer = await self._transport.open("POST", "/v1/sessions", raw=image, query={"from": "image"}, waits=1)
        return AsyncSession(self._transport, SessionState(await answer.json()))
