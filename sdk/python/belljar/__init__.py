"""Runs untrusted code in sealed jars: a client of a Belljar service.

    from belljar import Belljar

    with Belljar() as jar:
        print(jar.run("print(6 * 7)", "python").stdout)

`Belljar` waits; `AsyncBelljar` is the same for asyncio.
"""

from ._aio.client import AsyncBelljar
from ._aio.runs import AsyncRun
from ._aio.sessions import AsyncSession
from ._aio.streams import AsyncCellStream, AsyncEventStream, AsyncRunStream
from ._sync.client import Belljar
from ._sync.runs import Run
from ._sync.sessions import Session
from ._sync.streams import CellStream, EventStream, RunStream
from .errors import (ApiError, BadRequest, BelljarError, Busy, Conflict, ConnectionFailed, ConnectionLost, Forbidden,
                     NoSpace, NotFound, ProgramFailed, ProtocolError, SessionEnded, TimedOut, TooLarge, Unauthorized)
from .models import Cell, CellEvent, Diagnosis, Event, Result

__version__ = "0.1.0"
__all__ = [
    "ApiError", "AsyncBelljar", "AsyncCellStream", "AsyncEventStream", "AsyncRun", "AsyncRunStream", "AsyncSession",
    "BadRequest", "Belljar", "BelljarError", "Busy", "Cell", "CellEvent", "CellStream", "Conflict",
    "ConnectionFailed", "ConnectionLost", "Diagnosis", "Event", "EventStream", "Forbidden", "NoSpace", "NotFound",
    "ProgramFailed", "ProtocolError", "Result", "Run", "RunStream", "Session", "SessionEnded", "TimedOut", "TooLarge",
    "Unauthorized",
]
