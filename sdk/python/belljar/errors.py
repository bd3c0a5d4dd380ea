"""Everything that this package raises is a BelljarError."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Type

from ._model import Outcome


class BelljarError(Exception):
    """Any error of this package."""


class ProgramFailed(BelljarError):
    """A program did not end with the verdict `ok`, and the caller asked for that (`check`). The message has the
    diagnosis; `result` is the Result or the Cell."""

    def __init__(self, result: Outcome) -> None:
        super().__init__(result.explain())
        self.result = result


class ConnectionFailed(BelljarError):
    """There is no connection to the service. Nothing was sent."""


class ConnectionLost(BelljarError):
    """The connection ended before the answer did. The request may have had its effect."""


class TimedOut(ConnectionLost):
    """The service sent nothing for longer than the `timeout` of the client."""


class ProtocolError(BelljarError):
    """The answer is not one of Belljar: another program listens there, or another version."""


class ApiError(BelljarError):
    """The service refused a request. `code` is for programs, the message for people; `field` is the wrong field."""

    def __init__(self, status: int, code: str, message: str, field: Optional[str] = None,
                 retry_after: Optional[float] = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.field, self.retry_after = status, code, message, field, retry_after

    def __str__(self) -> str:
        return f"{self.message} ({self.status} {self.code})"


class BadRequest(ApiError):
    """400: a field is wrong."""


class Unauthorized(ApiError):
    """401: a key is needed, or the key is wrong."""


class Forbidden(ApiError):
    """403: the key, a rule or a permission mode does not allow it."""


class NotFound(ApiError):
    """404: there is no such thing, or no such path."""


class Conflict(ApiError):
    """409: not in this state, such as a fork while a cell runs."""


class SessionEnded(ApiError):
    """410: the session is over. The message has the reason and the time."""


class TooLarge(ApiError):
    """413: the body, or a file, is too large."""


class Busy(ApiError):
    """503: the service has no room, and accepted nothing. `retry_after` is its advice in seconds."""


class NoSpace(ApiError):
    """507: a quota or the disk of the service is full."""


BY_STATUS: Dict[int, Type[ApiError]] = {
    400: BadRequest, 401: Unauthorized, 403: Forbidden, 404: NotFound, 405: BadRequest, 409: Conflict,
    410: SessionEnded, 413: TooLarge, 415: BadRequest, 503: Busy, 507: NoSpace,
}


def api_error(status: int, headers: Mapping[str, str], body: Any) -> BelljarError:
    """The error of an answer. /v1 has {"error": {…}}, /api/artifacts has {"detail", "error"}."""
    error = body.get("error") if isinstance(body, dict) else None
    after = headers.get("retry-after", "")
    retry_after = float(after) if after.isdigit() else None
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        code, message, field = str(error.get("code")), error["message"], error.get("field")
    elif isinstance(body, dict) and isinstance(body.get("detail"), str):
        code, message, field = str(error), body["detail"], None
    elif isinstance(body, dict) and status == 503 and isinstance(body.get("why"), str):
        code, message, field = "unhealthy", body["why"], None
    else:
        return ProtocolError(f"the answer has status {status} and no error of Belljar; is a belljar service there?")
    return BY_STATUS.get(status, ApiError)(status, code, message, field, retry_after)
