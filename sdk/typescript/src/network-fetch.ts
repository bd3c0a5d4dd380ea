// The network of browsers, Deno and workers: fetch().

import { ConnectionFailed, ConnectionLost, TimedOut } from "./errors.js";
import type { Answer, Network, Request } from "./transport.js";

export class FetchNetwork implements Network {
  readonly name: string;

  constructor(private readonly url: string) {
    this.name = new URL(url).host;
  }

  async send(request: Request): Promise<Answer> {
    const stop = new AbortController();
    const onAbort = () => stop.abort(request.signal!.reason);
    request.signal?.addEventListener("abort", onAbort, { once: true });
    if (request.signal?.aborted) onAbort();
    const late = new TimedOut(`the service at ${this.name} sent nothing for ${request.timeout / 1000} s`);
    let timer = setTimeout(() => stop.abort(late), request.timeout);
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(late), request.timeout);
    };
    const done = () => {
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", onAbort);
    };
    let response: Response;
    try {
      response = await fetch(this.url + request.path, {
        method: request.method, headers: request.headers, body: request.body as BodyInit, signal: stop.signal,
      });
    } catch (error) {
      done();
      if (stop.signal.aborted) throw stop.signal.reason;
      // fetch does not say whether bytes were sent, so only a request that has the same effect twice is tried again.
      const Kind = request.method === "GET" ? ConnectionFailed : ConnectionLost;
      throw new Kind(`no answer from a belljar service at ${this.name}`, { cause: error });
    }
    const name = this.name;
    async function* body(): AsyncGenerator<Uint8Array> {
      const reader = response.body?.getReader();
      try {
        while (reader) {
          alive();
          const { value, done: over } = await reader.read();
          if (over) return;
          yield value;
        }
      } catch (error) {
        if (stop.signal.aborted) throw stop.signal.reason;
        throw new ConnectionLost(`the service at ${name} ended the connection before its answer was complete`, { cause: error });
      } finally {
        done();
        reader?.cancel().catch(() => {});
      }
    }
    return {
      status: response.status, header: (name) => response.headers.get(name), body: body(),
      close: () => { done(); stop.abort(); },
    };
  }

  close(): void {}
}
