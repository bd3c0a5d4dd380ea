export interface Request {
    method: string;
    path: string;
    headers: Record<string, string>;
    body?: Uint8Array | string;
    /** Milliseconds without a byte. */
    timeout: number;
    signal?: AbortSignal;
}
export interface Answer {
    status: number;
    header(name: string): string | null;
    body: AsyncIterable<Uint8Array>;
    /** Closes the connection if the body was not read to its end. */
    close(): void;
}
/** One request over the network. Failures are ConnectionFailed (nothing was sent), ConnectionLost and TimedOut. */
export interface Network {
    name: string;
    send(request: Request): Promise<Answer>;
    close(): void;
}
export interface Rules {
    key?: string;
    timeout?: number;
    retries: number;
}
export interface Call {
    body?: unknown;
    /** Bytes as they are, in place of JSON. */
    raw?: Uint8Array;
    query?: object;
    signal?: AbortSignal;
    /** A program runs before the answer: milliseconds that it may take, or 1. */
    waits?: number;
    accept?: string;
    /** false: 503 is not tried again. */
    waitsForRoom?: boolean;
    /** false: it is never sent twice, although its method would allow it. */
    repeats?: boolean;
}
export declare const NDJSON = "application/x-ndjson";
export declare const BYTES = "application/octet-stream";
export declare class Transport {
    readonly network: Network;
    private readonly rules;
    constructor(network: Network, rules: Rules);
    get retries(): number;
    /** The JSON of an answer, or undefined if it has no body. */
    call<T = any>(method: string, path: string, call?: Call): Promise<T>;
    bytes(path: string, call?: Call): Promise<Uint8Array>;
    /** An answer that is a success, with its body unread. Every other answer is thrown as its error. */
    open(method: string, path: string, call?: Call): Promise<Answer>;
    private request;
}
export declare function readAll(answer: Answer): Promise<Uint8Array>;
/** Waits, unless the signal is aborted first. */
export declare function pause(ms: number, signal?: AbortSignal): Promise<void>;
/** One part of a path: an id, a name. */
export declare const part: (value: string | number) => string;
/** The path of a file, whose slashes stay. */
export declare const pathOf: (name: string) => string;
