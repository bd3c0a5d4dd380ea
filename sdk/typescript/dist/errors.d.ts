import type { Cell, CellEnd, Result } from "./models.js";
/** Any error of this package. */
export declare class BelljarError extends Error {
    constructor(message: string, options?: ErrorOptions);
}
/** A program did not end with the verdict `ok`, and the caller asked for that (`check`). The message has the diagnosis. */
export declare class ProgramFailed extends BelljarError {
    readonly result: Result | Cell | CellEnd;
    constructor(result: Result | Cell | CellEnd);
}
/** There is no connection to the service. Nothing was sent. */
export declare class ConnectionFailed extends BelljarError {
}
/** The connection ended before the answer did. The request may have had its effect. */
export declare class ConnectionLost extends BelljarError {
}
/** The service sent nothing for longer than the `timeout` of the client. */
export declare class TimedOut extends ConnectionLost {
}
/** The answer is not one of Belljar: another program listens there, or another version. */
export declare class ProtocolError extends BelljarError {
}
/** The service refused a request. `code` is for programs, the message for people; `field` is the wrong field. */
export declare class ApiError extends BelljarError {
    readonly status: number;
    readonly code: string;
    readonly field: string | null;
    /** Seconds, if the service gives advice. */
    readonly retryAfter: number | null;
    constructor(status: number, code: string, message: string, field?: string | null, 
    /** Seconds, if the service gives advice. */
    retryAfter?: number | null);
}
/** 400: a field is wrong. */
export declare class BadRequest extends ApiError {
}
/** 401: a key is needed, or the key is wrong. */
export declare class Unauthorized extends ApiError {
}
/** 403: the key, a rule or a permission mode does not allow it. */
export declare class Forbidden extends ApiError {
}
/** 404: there is no such thing, or no such path. */
export declare class NotFound extends ApiError {
}
/** 409: not in this state, such as a fork while a cell runs. */
export declare class Conflict extends ApiError {
}
/** 410: the session is over. The message has the reason and the time. */
export declare class SessionEnded extends ApiError {
}
/** 413: the body, or a file, is too large. */
export declare class TooLarge extends ApiError {
}
/** 503: the service has no room, and accepted nothing. */
export declare class Busy extends ApiError {
}
/** 507: a quota or the disk of the service is full. */
export declare class NoSpace extends ApiError {
}
/** The error of an answer. /v1 has {"error": {…}}, /api/artifacts has {"detail", "error"}. */
export declare function apiError(status: number, retryAfter: string | null, body: any): BelljarError;
