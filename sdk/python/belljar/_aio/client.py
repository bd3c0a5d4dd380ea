"""The client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional

from .._config import configure
from .._fields import fields, run_fields, seconds
from .._http import part
from ..models import (Batch, BatchEvent, BatchRuns, Comparison, ComparisonEvent, Diagnosis, Event, Health, Language,
                      Result, Stats)
from ..models import Session as SessionState
from .opening import Opening
from .registers import Approvals, Artifacts, Keys, Rules, Templates
from .runs import AsyncRun, Runs
from .sessions import AsyncSession, Sessions
from .streams import AsyncEventStream, AsyncRunStream
from .transport import Transport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..models import (BatchRequest, CheckOptions, ComparisonRequest, DiagnosisOptions, RunOptions, SessionOptions,
                          TestOptions)


class AsyncBelljar:
    """A client of a Belljar service.

    url: `http://HOST:PORT` or `unix:/path/belljar.sock`; `$BELLJAR_URL`, or http://127.0.0.1:6000, by default.
    key: an API key; `$BELLJAR_API_KEY` by default.
    timeout: seconds without a byte from the service before TimedOut. By default 60, and 900 while a program runs.
    retries: how often a request is tried again where that is safe (see the README).
    """

    def __init__(self, url: Optional[str] = None, *, key: Optional[str] = None, timeout: Optional[float] = None,
                 retries: int = 3) -> None:
        self._transport = Transport(configure(url, key, timeout, retries))
        self.runs = Runs(self._transport)
        self.sessions = Sessions(self._transport)
        self.templates = Templates(self._transport)
        self.approvals = Approvals(self._transport)
        self.rules = Rules(self._transport)
        self.artifacts = Artifacts(self._transport)
        self.keys = Keys(self._transport)

    def __repr__(self) -> str:
        return f"<belljar at {self._transport.config.address.name}>"

    async def __aenter__(self) -> "AsyncBelljar":
        return self

    async def __aexit__(self, *exc: Any) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that wait."""
        self._transport.close()

    # ---- runs ----

    async def run(self, code: Optional[str] = None, language: Optional[str] = None, *, check: bool = False,
                  timeout: Optional[float] = None, **options: "Unpack[RunOptions]") -> Result:
        """Runs a program and waits for its result. A program that fails is a result, too; `check` raises
        ProgramFailed, with the diagnosis, instead. `timeout` are the seconds that the program gets. If the caller
        leaves before the end, by an exception or a cancelled task, the run is cancelled."""
        body = run_fields({"cancel_on_disconnect": True, **options}, code=code, language=language, timeout=timeout)
        result = Result(await self._transport.call("POST", "/v1/runs", body, waits=seconds(body)))
        return result.check() if check else result

    def stream(self, code: Optional[str] = None, language: Optional[str] = None, *, timeout: Optional[float] = None,
               **options: "Unpack[RunOptions]") -> AsyncRunStream:
        """Runs a program; its events are an iterator. With `stdin_open=True` it can be written to meanwhile."""
        body = run_fields({"cancel_on_disconnect": True, **options}, code=code, language=language, timeout=timeout,
                          stream=True)
        return AsyncRunStream(self._transport, Event, "POST", "/v1/runs", body)

    async def start(self, code: Optional[str] = None, language: Optional[str] = None, *,
                    timeout: Optional[float] = None, **options: "Unpack[RunOptions]") -> AsyncRun:
        """Starts a program and does not wait for it. It goes on without this client."""
        body = run_fields(options, code=code, language=language, timeout=timeout, wait=False)
        raw = await self._transport.call("POST", "/v1/runs", body)
        return AsyncRun(self._transport, raw["id"], raw.get("approval"))

    # ---- many runs ----

    async def batch(self, **request: "Unpack[BatchRequest]") -> Batch:
        """Many runs (`runs`), or one program on many inputs (`run`, `inputs`)."""
        body = fields({"cancel_on_disconnect": True, **request})
        return Batch(await self._transport.call("POST", "/v1/batches", body, waits=1))

    def stream_batch(self, **request: "Unpack[BatchRequest]") -> AsyncEventStream[BatchEvent]:
        body = fields({"cancel_on_disconnect": True, **request}, stream=True)
        return AsyncEventStream(self._transport, BatchEvent, "POST", "/v1/batches", body)

    async def batch_runs(self, batch_id: str) -> BatchRuns:
        """The runs of a batch or a comparison."""
        return BatchRuns(await self._transport.call("GET", f"/v1/batches/{part(batch_id)}"))

    async def compare(self, **request: "Unpack[ComparisonRequest]") -> Comparison:
        """Every variant on every input: outputs and costs side by side."""
        body = fields({"cancel_on_disconnect": True, **request})
        return Comparison(await self._transport.call("POST", "/v1/comparisons", body, waits=1))

    def stream_comparison(self, **request: "Unpack[ComparisonRequest]") -> AsyncEventStream[ComparisonEvent]:
        body = fields({"cancel_on_disconnect": True, **request}, stream=True)
        return AsyncEventStream(self._transport, ComparisonEvent, "POST", "/v1/comparisons", body)

    async def test(self, **request: "Unpack[TestOptions]") -> Result:
        """Runs the tests of a project (`files`), or `tests` beside `code`. The result has `outcome` and `tests`."""
        body = fields({"cancel_on_disconnect": True, **request})
        return Result(await self._transport.call("POST", "/v1/tests", body, waits=1))

    async def check(self, **request: "Unpack[CheckOptions]") -> Result:
        """Finds the mistakes in `code` or `files`, and runs no line of it. The result has `outcome` and `checks`."""
        body = fields({"cancel_on_disconnect": True, **request})
        return Result(await self._transport.call("POST", "/v1/checks", body, waits=1))

    # ---- sessions ----

    def session(self, language: Optional[str] = "python", **options: "Unpack[SessionOptions]") -> Opening[AsyncSession]:
        """Starts a session. As a context it ends with the block."""
        body = fields({**options}, language=language)

        async def make() -> AsyncSession:
            raw = await self._transport.call("POST", "/v1/sessions", body, waits=1)
            return AsyncSession(self._transport, SessionState(raw))

        return Opening(make)

    # ---- questions ----

    async def diagnose(self, stderr: str, **options: "Unpack[DiagnosisOptions]") -> Optional[Diagnosis]:
        """Explains an error that a program printed elsewhere. None: no error was found."""
        raw = await self._transport.call("POST", "/v1/diagnoses", fields({**options}, stderr=stderr))
        return Diagnosis(raw["diagnosis"]) if raw["diagnosis"] else None

    async def languages(self) -> List[Language]:
        return [Language(raw) for raw in await self._transport.call("GET", "/v1/languages")]

    async def health(self) -> Health:
        return Health(await self._transport.call("GET", "/v1/health"))

    async def stats(self, since: Optional[str] = None) -> Stats:
        query: Dict[str, Any] = {"since": since} if since else {}
        return Stats(await self._transport.call("GET", "/v1/stats", query=query))
