// The network of Node: HTTP/1.1 over connections that stay open, on TCP or a unix socket. It is strict, and smaller and
// faster than node:http and fetch; ARCHITECTURE.md has the numbers.

import { Buffer } from "node:buffer";
import * as net from "node:net";
import * as tls from "node:tls";
import { BelljarError, ConnectionFailed, ConnectionLost, ProtocolError, TimedOut } from "./errors.js";
import type { Answer, Network, Request } from "./transport.js";

const KEPT = 64; // connections that wait for their next request
const KEPT_FOR = 30_000; // the service closes them after 75 s
const CONNECTS_WITHIN = 10_000;
const HEAD_MAX = 64 << 10;
const HELD_MAX = 256 << 10; // bytes that wait for the caller; then the service has to wait
/** A larger body waits until the service has seen the head: if it refuses, no byte is sent for nothing. */
const LARGE_BODY = 1 << 20;

interface Place {
  host?: string;
  port?: number;
  path?: string;
}

interface Head {
  status: number;
  headers: Map<string, string>;
  /** undefined: in chunks. */
  length: number | undefined;
  keeps: boolean;
}

export class NodeNetwork implements Network {
  readonly name: string;
  private readonly secure: boolean;
  private readonly place: Place;
  private readonly host: string;
  private readonly prefix: string = "";
  private idle: Connection[] = [];
  private closed = false;

  constructor(url: string) {
    this.secure = url.startsWith("https:");
    if (url.startsWith("unix:")) {
      const path = url.slice("unix:".length).replace(/^\/\/(?=\/)/, "");
      if (!path.startsWith("/"))
        throw new BelljarError(`the socket of '${url}' is not an absolute path; write unix:/path/belljar.sock`);
      this.place = { path };
      this.name = `unix:${path}`;
      this.host = "localhost";
    } else {
      const parsed = new URL(url);
      const host = parsed.hostname.replace(/^\[|\]$/g, "");
      this.place = { host, port: Number(parsed.port) || (this.secure ? 443 : 80) };
      this.prefix = parsed.pathname.replace(/\/$/, "");
      this.name = this.host = parsed.host;
    }
  }

  async send(request: Request): Promise<Answer> {
    const { signal } = request;
    const connection = this.take() ?? (await this.connect(signal));
    const onAbort = () => connection.end(signal!.reason);
    let over = false;
    const done = (keeps: boolean) => {
      if (over) return; // it may have its next request already
      over = true;
      signal?.removeEventListener("abort", onAbort);
      if (keeps) this.keep(connection);
      else connection.end();
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    connection.patience = request.timeout;
    try {
      const head = await this.exchange(connection, request);
      return {
        status: head.status,
        header: (name) => head.headers.get(name) ?? null,
        body: bodyOf(connection, head, done),
        close: () => done(false),
      };
    } catch (error) {
      done(false);
      throw error;
    }
  }

  private async exchange(connection: Connection, request: Request): Promise<Head> {
    const { body, method } = request;
    const size = body === undefined ? 0 : typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
    let head = `${method} ${this.prefix}${request.path} HTTP/1.1\r\nHost: ${this.host}\r\n`;
    for (const [name, value] of Object.entries(request.headers)) head += `${name}: ${value}\r\n`;
    if (body !== undefined) head += `Content-Length: ${size}\r\n`;
    if (size <= LARGE_BODY) {
      if (typeof body === "string") connection.write(`${head}\r\n${body}`);
      else {
        connection.write(`${head}\r\n`);
        if (body) connection.write(body);
      }
    } else {
      connection.write(`${head}Expect: 100-continue\r\n\r\n`);
      const early = await connection.head();
      if (early.status !== 100) return { ...early, keeps: false };
      connection.write(body!);
    }
    let answer = await connection.head();
    while (answer.status < 200) answer = await connection.head();
    return answer;
  }

  private connect(signal?: AbortSignal): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = this.secure ? tls.connect({ ...this.place, servername: this.place.host }) : net.connect(this.place);
      const connection = new Connection(socket, this.name);
      const settle = (act: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        connection.onEnd = undefined;
        act();
      };
      const fail = (error: unknown) => settle(() => {
        connection.end();
        reject(error);
      });
      const failed = (reason: string) => fail(new ConnectionFailed(`no belljar service at ${this.name}: ${reason}`));
      const onAbort = () => fail(signal!.reason);
      const timer = setTimeout(() => failed(`no answer for ${CONNECTS_WITHIN / 1000} s`), CONNECTS_WITHIN);
      signal?.addEventListener("abort", onAbort, { once: true });
      connection.onEnd = (error) => failed(error?.message ?? "it closed the connection");
      socket.once(this.secure ? "secureConnect" : "connect", () => settle(() => {
        socket.setNoDelay(true);
        resolve(connection);
      }));
    });
  }

  // ---- the pool ----

  private take(): Connection | undefined {
    if (this.closed) throw new BelljarError("the client is closed");
    for (let connection; (connection = this.idle.pop()); connection.end()) {
      if (connection.isFresh()) return connection.wakeUp();
    }
    return undefined;
  }

  private keep(connection: Connection): void {
    if (this.closed || this.idle.length >= KEPT) return connection.end();
    connection.rest();
    this.idle.push(connection);
  }

  close(): void {
    this.closed = true;
    for (const connection of this.idle) connection.end();
    this.idle = [];
  }
}

/** The bytes of one connection. */
class Connection {
  patience = 0;
  onEnd?: (error?: Error) => void;
  private held: Buffer[] = [];
  private size = 0;
  private wake?: () => void;
  private over = false;
  private failure?: unknown;
  private since = 0;

  constructor(private readonly socket: net.Socket, private readonly name: string) {
    socket.on("data", (piece) => {
      this.held.push(piece);
      this.size += piece.length;
      if (this.size > HELD_MAX) socket.pause();
      this.wake?.();
    });
    socket.on("error", (error) => this.stop(error));
    socket.on("end", () => this.stop());
    socket.on("close", () => this.stop());
  }

  /** Closes it; a reader gets the failure. */
  end(failure?: unknown): void {
    this.failure ??= failure;
    this.stop();
    this.socket.destroy();
  }

  private stop(error?: Error): void {
    if (this.over) return;
    this.over = true;
    this.onEnd?.(error);
    this.wake?.();
  }

  /** While it rests it keeps no process alive. */
  rest(): void {
    this.since = Date.now();
    this.socket.unref();
  }

  isFresh(): boolean {
    return !this.over && this.size === 0 && Date.now() - this.since < KEPT_FOR;
  }

  wakeUp(): this {
    this.socket.ref();
    return this;
  }

  write(data: Uint8Array | string): void {
    if (!this.over) this.socket.write(data);
  }

  /** Waits for more bytes than there are. */
  private more(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => this.end(new TimedOut(`the service at ${this.name} sent nothing for ${this.patience / 1000} s`)),
        this.patience,
      );
      this.wake = () => {
        clearTimeout(timer);
        this.wake = undefined;
        if (this.over) reject(this.failure ?? this.lost());
        else resolve();
      };
      if (this.over) this.wake();
    });
  }

  private lost(): ConnectionLost {
    return new ConnectionLost(`the service at ${this.name} ended the connection before its answer was complete`);
  }

  /** The text before the mark, at most so many bytes. */
  async until(mark: string, most: number): Promise<string> {
    for (;;) {
      const whole = this.held.length === 1 ? this.held[0]! : Buffer.concat(this.held);
      const at = whole.indexOf(mark);
      this.hold(at < 0 ? whole : whole.subarray(at + mark.length));
      if (at >= 0) return whole.toString("latin1", 0, at);
      if (whole.length > most) throw new ProtocolError(`the answer has a line or a head of more than ${most} bytes`);
      await this.more();
    }
  }

  private hold(rest: Buffer): void {
    this.held = rest.length ? [rest] : [];
    this.size = rest.length;
  }

  /** The bytes that are there, at least one and at most so many. */
  async some(most: number): Promise<Uint8Array> {
    if (!this.size) await this.more();
    const first = this.held.shift()!;
    const piece = first.length > most ? first.subarray(0, most) : first;
    if (first.length > most) this.held.unshift(first.subarray(most));
    const was = this.size;
    this.size -= piece.length;
    if (was > HELD_MAX && this.size <= HELD_MAX) this.socket.resume();
    return piece;
  }

  async head(): Promise<Head> {
    const [first, ...lines] = (await this.until("\r\n\r\n", HEAD_MAX)).split("\r\n");
    const status = /^HTTP\/1\.1 (\d{3})( |$)/.exec(first!);
    if (!status)
      throw new ProtocolError(`the answer begins with '${first!.slice(0, 40)}' and not with HTTP/1.1; is a belljar service there?`);
    const headers = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(":");
      if (colon <= 0) throw new ProtocolError(`the answer has a line '${line.slice(0, 40)}' that is no header`);
      headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
    }
    return framed(Number(status[1]), headers);
  }
}

function framed(status: number, headers: Map<string, string>): Head {
  const keeps = headers.get("connection")?.toLowerCase() !== "close";
  if (status < 200 || status === 204 || status === 304) return { status, headers, length: 0, keeps };
  const coding = headers.get("transfer-encoding");
  const length = headers.get("content-length");
  if (coding !== undefined && (coding.toLowerCase() !== "chunked" || length !== undefined))
    throw new ProtocolError(`the answer has Transfer-Encoding '${coding}', which is not understood`);
  if (coding === undefined && !/^\d{1,15}$/.test(length ?? "")) throw new ProtocolError("the answer has no length");
  return { status, headers, length: coding ? undefined : Number(length), keeps };
}

/** The body; it ends with done(true) if it was read as a whole and the connection stays. */
async function* bodyOf(connection: Connection, head: Head, done: (keeps: boolean) => void): AsyncGenerator<Uint8Array> {
  let whole = false;
  try {
    if (head.length !== undefined) yield* exactly(connection, head.length);
    else {
      for (;;) {
        const line = await connection.until("\r\n", 1024);
        if (!/^[0-9a-fA-F]{1,8}(;.*)?$/.test(line)) throw new ProtocolError(`the answer has a chunk of size '${line.slice(0, 20)}'`);
        const size = parseInt(line, 16);
        if (size) yield* exactly(connection, size);
        if ((await connection.until("\r\n", 1024)) !== "")
          throw new ProtocolError(size ? "a chunk of the answer has another size than it says" : "the answer has trailers");
        if (!size) break;
      }
    }
    whole = true;
  } finally {
    done(whole && head.keeps);
  }
}

async function* exactly(connection: Connection, size: number): AsyncGenerator<Uint8Array> {
  for (let left = size; left > 0; ) {
    const piece = await connection.some(left);
    left -= piece.length;
    yield piece;
  }
}
