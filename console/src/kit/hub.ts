// The tab's side of the hub (src/hub.ts): runs and feeds that this tab follows.
import { keyText, link, onKey } from "./api";
import type { FromHub, HubEvent, ToHub } from "./hub-types";
import { breathe, SLICE_MS } from "./slices";

declare const HUB: string; // the address of the worker, by build.mjs

type Listener = (event: HubEvent) => void;
const runs = new Map<string, { after: number; on: Listener }>();
const feeds = new Map<string, Set<Listener>>();
const watchers = new Set<(state: "open" | "lost", why?: string) => void>();
let port: MessagePort | null = null;
let due = false;

/** A name that only this document has; the hub learns of our end by it, also after a crash. */
const lock = `belljar.tab.${Math.random().toString(36).slice(2)}`;
let locked = false;

async function open(): Promise<MessagePort> {
  if (typeof SharedWorker !== "undefined") {
    // The policy of the page lets no text become a script: this address is the only one.
    const policy = (globalThis as any).trustedTypes?.createPolicy("belljar", { createScriptURL: () => HUB });
    return new SharedWorker(policy ? policy.createScriptURL("") : HUB, { type: "module", name: "belljar" }).port;
  }
  const { join } = await import("../hub");
  const channel = new MessageChannel();
  join(channel.port1);
  return channel.port2;
}

const send = (message: ToHub) => port?.postMessage(message);

function want() {
  if (!due) {
    due = true;
    queueMicrotask(() => {
      due = false;
      const wanted = Object.fromEntries([...runs].map(([id, r]) => [id, r.after]));
      send({ t: "want", key: keyText(), runs: wanted, feeds: [...feeds.keys()], ...(locked && { lock }) });
      locked = false; // once is enough
    });
  }
}

async function start() {
  if (navigator.locks)
    await new Promise<void>((held) => {
      void navigator.locks.request(lock, () => (held(), new Promise(() => {})));
      setTimeout(held, 200);
    }).then(() => (locked = true));
  port = await open();
  port.onmessage = ({ data }: MessageEvent<FromHub>) => {
    if (data.t === "events") {
      queue.push(data);
      if (queue.length === 1) void drain();
    } else if (data.t === "failed") {
      if (data.status !== 401) for (const watch of watchers) watch("lost", data.message);
    } else {
      link.value = data.t === "lost" ? "off" : "on";
      for (const watch of watchers) watch(data.t);
    }
  };
  want();
}

/** A flood is taken in slices. Each message is confirmed after its last event, so the queue stays short. */
const queue: Extract<FromHub, { t: "events" }>[] = [];
async function drain() {
  for (let since = performance.now(); queue.length; queue.shift()) {
    for (const event of queue[0].list) {
      take(event);
      if (performance.now() - since < SLICE_MS) continue;
      await breathe();
      since = performance.now();
    }
    if (queue[0].size) send({ t: "took", size: queue[0].size });
  }
}

function take(event: HubEvent) {
  if (!event.run) {
    for (const on of feeds.get(event.feed ?? event.event) ?? []) on(event);
    return;
  }
  const run = runs.get(event.run);
  if (!run) return;
  if (event.event === "done" || event.event === "missing") runs.delete(event.run);
  else if (event.seq !== undefined) {
    if (event.seq <= run.after) return;
    run.after = event.seq;
  }
  run.on(event);
}

let started: Promise<void> | null = null;
const ready = () => (started ??= start());

/** Calls `on` for each event of the run, up to "done" or "missing". */
export function followRun(id: string, on: Listener): () => void {
  runs.set(id, { after: -1, on });
  void ready().then(want);
  return () => {
    if (runs.get(id)?.on !== on) return;
    runs.delete(id);
    want();
  };
}

export function followFeed(name: string, on: Listener): () => void {
  const set = feeds.get(name) ?? new Set();
  feeds.set(name, set.add(on));
  void ready().then(want);
  return () => {
    set.delete(on);
    if (!set.size) feeds.delete(name);
    want();
  };
}

export function watchHub(on: (state: "open" | "lost", why?: string) => void): () => void {
  watchers.add(on);
  return () => void watchers.delete(on);
}

onKey(() => void ready().then(want));
addEventListener("pagehide", () => send({ t: "bye" }));
// Back from the cache of the browser.
addEventListener("pageshow", (e) => e.persisted && want());
