// A run as events. Its state is in the service: the number of the last event is all that a new connection
// needs, so nothing is lost and nothing comes twice.
import { ApiError, json } from "./api";
import { breathe, SLICE_MS } from "./slices";
import { followRun, watchHub } from "./hub";
import type { Approval, RunEvent } from "./types";

export type StreamState = "open" | "lost" | "over";

export interface Follower {
  close(): void;
}

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

/** Starts a run (`body`) or joins one (`id`), and follows it to its end. The hub reconnects by itself. */
export function follow(
  from: { body: unknown } | { id: string },
  on: (event: RunEvent) => void,
  state: (state: StreamState, error?: unknown) => void,
): Follower {
  const stop = new AbortController();
  let leave = () => {};
  const unwatch = watchHub((now) => state(now));
  const close = () => {
    stop.abort();
    unwatch();
    leave();
  };
  const join = (id: string) => {
    if (stop.signal.aborted) return;
    leave = followRun(id, (event) => {
      if (event.event === "missing") {
        close();
        return state("over", new ApiError(404, "not_found", event.message ?? "There is no such run."));
      }
      on(event as RunEvent);
      if (event.event !== "done") return;
      close();
      state("over");
    });
  };
  if ("id" in from) join(from.id);
  else
    json<{ id: string; state: string; approval?: Approval }>("POST", "/v1/runs", {
      body: { ...(from.body as object), wait: false }, signal: stop.signal, quick: true,
    }).then(
      (made) => {
        if (stop.signal.aborted) return;
        on({ event: made.state === "waiting" ? "waiting" : "queued", id: made.id, approval: made.approval });
        join(made.id);
      },
      (error) => {
        if (stop.signal.aborted) return;
        close();
        state("over", error);
      },
    );
  return { close };
}
