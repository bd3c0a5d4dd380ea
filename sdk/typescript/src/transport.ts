// Requests and answers. The rules of retries are here, and only here.

import { apiError, BelljarError, ConnectionFailed, ConnectionLost, ProtocolError, TimedOut, type ApiError } from "./errors.js";

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

const JSON_TYPE = "application/json";
export const NDJSON = "application/x-ndjson";
export const BYTES = "application/octet-stream";
const PATIENCE = 60_000;
const LONG_PATIENCE = 900_000;
/** A request that may be sent again if its connection was lost: it has the same effect twice. */
const repeatable = new Set(["GET", "HEAD", "DELETE", "PUT"]);

export class Transport {
  constructor(
    readonly network: Network,
    private readonly rules: Rules,
  ) {}

  get retries(): number {
    return this.rules.retries;
  }

  /** The JSON of an answer, or undefined if it has no body. */
  async call<T = any>(method: string, path: string, call: Call = {}): Promise<T> {
    const answer = await this.open(method, path, call);
    return answer.status === 204 ? ((await readAll(answer)), undefined as T) : readJson(answer);
  }

  async bytes(path: string, call: Call = {}): Promise<Uint8Array> {
    return readAll(await this.open("GET", path, { accept: BYTES, ...call }));
  }

  /** An answer that is a success, with its body unread. Every other answer is thrown as its error. */
  async open(method: string, path: string, call: Call = {}): Promise<Answer> {
    const request = this.request(method, path, call);
    for (let attempt = 0; ; attempt++) {
      call.signal?.throwIfAborted();
      const left = attempt < this.rules.retries;
      let delay = 100 * 2 ** attempt;
      try {
        const answer = await this.network.send(request);
        if (answer.status >= 200 && answer.status < 300) return answer;
        const error = await errorOf(answer);
        // The attempt whose answer was lost had its effect.
        if (method === "DELETE" && attempt > 0 && (answer.status === 404 || answer.status === 410)) return nothing;
        const after = (error as ApiError).retryAfter ?? null;
        if (answer.status !== 503 || after === null || !left || call.waitsForRoom === false) throw error;
        delay = after * 1000;
      } catch (error) {
        const again = error instanceof ConnectionFailed ||
          (error instanceof ConnectionLost && !(error instanceof TimedOut) && repeatable.has(method) && call.repeats !== false);
        if (!again || !left) throw error;
      }
      await pause(delay, call.signal);
    }
  }

  private request(method: string, path: string, call: Call): Request {
    const headers: Record<string, string> = { Accept: call.accept ?? JSON_TYPE };
    if (this.rules.key) headers["Authorization"] = `Bearer ${this.rules.key}`;
    const body = call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
    if (body !== undefined) headers["Content-Type"] = call.raw ? BYTES : JSON_TYPE;
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(call.query ?? {})) if (value !== undefined) query.set(name, String(value));
    const long = call.waits ? Math.max(LONG_PATIENCE, call.waits + PATIENCE) : PATIENCE;
    return {
      method, headers, body, signal: call.signal,
      path: query.size ?? [...query].length ? `${path}?${query}` : path,
      timeout: this.rules.timeout ?? long,
    };
  }
}

const nothing: Answer = { status: 204, header: () => null, body: (async function* () {})(), close: () => {} };

async function errorOf(answer: Answer): Promise<BelljarError> {
  if (answer.header("content-type")?.startsWith(JSON_TYPE))
    return apiError(answer.status, answer.header("retry-after"), await readJson(answer));
  answer.close();
  return apiError(answer.status, answer.header("retry-after"), null);
}

export async function readAll(answer: Answer): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of answer.body) {
    pieces.push(piece);
    size += piece.length;
  }
  if (pieces.length === 1) return pieces[0]!;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

async function readJson<T>(answer: Answer): Promise<T> {
  const kind = answer.header("content-type");
  if (!kind?.startsWith(JSON_TYPE)) {
    answer.close();
    throw new ProtocolError(`the answer is '${kind}' and not JSON; is a belljar service there?`);
  }
  const text = new TextDecoder().decode(await readAll(answer));
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new ProtocolError("the answer is not JSON", { cause: error });
  }
}

/** Waits, unless the signal is aborted first. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
  });
}

/** One part of a path: an id, a name. */
export const part = (value: string | number) => encodeURIComponent(value);

/** The path of a file, whose slashes stay. */
export const pathOf = (name: string) => name.replace(/^\/+/, "").split("/").map(encodeURIComponent).join("/");
