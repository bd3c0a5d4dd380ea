// Everything that this package throws is a BelljarError, or the reason of an AbortSignal.

import type { Cell, CellEnd, Result } from "./models.js";
import { explain } from "./explain.js";

/** Any error of this package. */
export class BelljarError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A program did not end with the verdict `ok`, and the caller asked for that (`check`). The message has the diagnosis. */
export class ProgramFailed extends BelljarError {
  constructor(readonly result: Result | Cell | CellEnd) {
    super(explain(result));
  }
}

/** There is no connection to the service. Nothing was sent. */
export class ConnectionFailed extends BelljarError {}

/** The connection ended before the answer did. The request may have had its effect. */
export class ConnectionLost extends BelljarError {}

/** The service sent nothing for longer than the `timeout` of the client. */
export class TimedOut extends ConnectionLost {}

/** The answer is not one of Belljar: another program listens there, or another version. */
export class ProtocolError extends BelljarError {}

/** The service refused a request. `code` is for programs, the message for people; `field` is the wrong field. */
export class ApiError extends BelljarError {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field: string | null = null,
    /** Seconds, if the service gives advice. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }
}

/** 400: a field is wrong. */
export class BadRequest extends ApiError {}
/** 401: a key is needed, or the key is wrong. */
export class Unauthorized extends ApiError {}
/** 403: the key, a rule or a permission mode does not allow it. */
export class Forbidden extends ApiError {}
/** 404: there is no such thing, or no such path. */
export class NotFound extends ApiError {}
/** 409: not in this state, such as a fork while a cell runs. */
export class Conflict extends ApiError {}
/** 410: the session is over. The message has the reason and the time. */
export class SessionEnded extends ApiError {}
/** 413: the body, or a file, is too large. */
export class TooLarge extends ApiError {}
/** 503: the service has no room, and accepted nothing. */
export class Busy extends ApiError {}
/** 507: a quota or the disk of the service is full. */
export class NoSpace extends ApiError {}

const byStatus: Record<number, typeof ApiError> = {
  400: BadRequest, 401: Unauthorized, 403: Forbidden, 404: NotFound, 405: BadRequest, 409: Conflict,
  410: SessionEnded, 413: TooLarge, 415: BadRequest, 503: Busy, 507: NoSpace,
};

/** The error of an answer. /v1 has {"error": {…}}, /api/artifacts has {"detail", "error"}. */
export function apiError(status: number, retryAfter: string | null, body: any): BelljarError {
  const error = body?.error;
  const seconds = retryAfter && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null;
  const Kind = byStatus[status] ?? ApiError;
  if (typeof error?.message === "string")
    return new Kind(status, String(error.code), error.message, error.field ?? null, seconds);
  if (typeof body?.detail === "string") return new Kind(status, String(error), body.detail, null, seconds);
  if (status === 503 && typeof body?.why === "string") return new Kind(status, "unhealthy", body.why, null, seconds);
  return new ProtocolError(`the answer has status ${status} and no error of Belljar; is a belljar service there?`);
}
