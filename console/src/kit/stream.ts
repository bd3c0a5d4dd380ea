// A run as events, over as many connections as it takes. Its state is in the service: `after` is all that
// a new connection needs, so nothing is lost and nothing comes twice.
import { ApiError, call, get, link, pause, Unreachable } from "./api";
import type { Result, RunEvent } from "./types";

export type StreamState = "open" | "lost" | "over";

export interface Follower {
  close(): void;
}

const SLICE_MS = 8;

/** Lets the page paint and take input between two slices of work. */
const breathe = () =>
  new Promise<void>((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => resolve();
    channel.port2.postMessage(0);
  });

/** Calls `on` for each line of NDJSON. True if the last event came. */
export async function read(reply: Response, on: (event: RunEvent) => void): Promise<boolean> {
  const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let since = performance.now();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return false;
    rest += value;
    let at = 0;
    for (let end; (end = rest.indexOf("\n", at)) >= 0; at = end + 1) {
      if (end === at) continue;
      const event = JSON.parse(rest.slice(at, end)) as RunEvent;
      on(event);
      if (event.event === "done") return true;
      if (performance.now() - since > SLICE_MS) {
        await breathe();
        since = performance.now();
      }
    }
    rest = rest.slice(at);
  }
}

/** Starts a run (`body`) or joins one (`id`), and follows it to its end. */
export function follow(
  from: { body: unknown } | { id: string },
  on: (event: RunEvent) => void,
  state: (state: StreamState, error?: unknown) => void,
): Follower {
  const stop = new AbortController();
  let id = "id" in from ? from.id : "";
  let after = -1;

  const take = (event: RunEvent) => {
    if (stop.signal.aborted) return;
    if (event.id) id = event.id;
    if (event.seq !== undefined) {
      if (event.seq <= after && event.event !== "done") return; // a second copy
      after = Math.max(after, event.seq);
    }
    on(event);
  };

  const connect = () =>
    id === "" && "body" in from
      ? call("POST", "/v1/runs", { body: from.body, signal: stop.signal, accept: "application/x-ndjson" })
      : call("GET", `/v1/runs/${id}/events${after >= 0 ? `?after=${after}` : ""}`, {
          signal: stop.signal,
          accept: "application/x-ndjson",
        });

  async function loop() {
    for (let wait = 100; ; wait = Math.min(wait * 2, 1000)) {
      try {
        const reply = await connect();
        state("open");
        if (reply.status === 204) {
          take({ event: "done", seq: after, result: await get<Result>(`/v1/runs/${id}`) });
          break;
        }
        if (await read(reply, take)) break;
      } catch (error) {
        if (stop.signal.aborted) return;
        const busy = error instanceof ApiError && error.status === 503 && id !== "";
        const cut = error instanceof TypeError || error instanceof Unreachable;
        if (id === "" || (error instanceof ApiError && !busy) || (!cut && !busy)) {
          state("over", error);
          return;
        }
        link.value = "off";
      }
      if (stop.signal.aborted) return;
      state("lost");
      await pause(wait);
    }
    state("over");
  }
  void loop();
  return { close: () => stop.abort() };
}
