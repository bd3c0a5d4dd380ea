// The one connection for events of all tabs of this browser. It is a SharedWorker; a browser without one runs the
// same code in the page. A browser opens six connections to a host, so a stream for each run would starve the page.
//
// A tab says which runs and feeds it wants and how far it has read; the hub asks the service for the union, and each
// event goes to the tabs that want it. A tab confirms the events that it has taken: a slow one is left out until it has caught up,
// and holds up nobody.
import type { FromHub, HubEvent, ToHub } from "./kit/hub-types";

interface Tab {
  port: MessagePort;
  key: string;
  runs: Map<string, number>; // the last event that was sent to the tab
  feeds: Set<string>;
  waiting: number; // characters that it has not confirmed
  slow: boolean;
}

const HIGH = 2 << 20;
const SLOW_MS = 2000;
/** The service says something every 15 s. A connection that is silent for longer is dead: a cable, a sleeping laptop. */
const SILENT_MS = 40000;
const pause = (ms: number) => new Promise<void>((r) => setTimeout(r, ms));

/** The connection for one key. */
class Link {
  tabs = new Set<Tab>();
  #stop: AbortController | null = null;
  #now = ""; // the runs and feeds of the present connection
  #at = new Map<string, number>(); // the last event of each run that came over it
  #due = false;
  denied = new Map<string, HubEvent>(); // feeds that the key may not have
  #wake: () => void = () => {};
  #heard = 0; // performance.now() of the last bytes; 0: there is no connection
  #silent = false;

  constructor(readonly key: string) {
    void this.#work();
    setInterval(() => {
      if (!this.#heard || performance.now() - this.#heard < SILENT_MS) return;
      this.#silent = true;
      this.#stop?.abort();
    }, 1000);
  }

  #wanted() {
    const runs = new Map<string, number>();
    const feeds = new Set<string>();
    for (const tab of this.tabs) {
      for (const feed of tab.feeds) if (!this.denied.has(feed)) feeds.add(feed);
      if (!tab.slow) for (const [id, after] of tab.runs) runs.set(id, Math.min(after, runs.get(id) ?? Infinity));
    }
    return { runs, feeds };
  }

  /** Something changed: another connection, if this one does not have all, or has a run that nobody wants. */
  check() {
    if (this.#due) return;
    this.#due = true;
    queueMicrotask(() => {
      this.#due = false;
      const { runs, feeds } = this.#wanted();
      const behind = [...runs].some(([id, after]) => after < (this.#at.get(id) ?? -1));
      if (this.#name(runs, feeds) === this.#now && !behind) return;
      this.#stop?.abort();
      this.#wake();
    });
  }

  #name = (runs: Map<string, number>, feeds: Set<string>) => [...runs.keys()].sort().join() + "/" + [...feeds].sort().join();

  #tell(message: FromHub) {
    for (const tab of this.tabs) tab.port.postMessage(message);
  }

  async #work() {
    for (let wait = 50; ; ) {
      const { runs, feeds } = this.#wanted();
      if (!runs.size && !feeds.size) {
        this.#now = "";
        this.#heard = 0;
        await new Promise<void>((r) => (this.#wake = r));
        continue;
      }
      this.#stop = new AbortController();
      this.#now = this.#name(runs, feeds);
      this.#at = new Map(runs);
      this.#silent = false;
      this.#heard = performance.now();
      try {
        const reply = await fetch("/v1/streams", {
          method: "POST",
          headers: {
            "Content-Type": "application/json", Accept: "application/x-ndjson",
            ...(this.key && { Authorization: `Bearer ${this.key}` }),
          },
          body: JSON.stringify({
            runs: [...runs].slice(0, 64).map(([id, after]) => ({ id, after: Math.max(0, after) })), feeds: [...feeds],
          }),
          signal: this.#stop.signal, cache: "no-store", credentials: "omit", redirect: "error",
        });
        if (!reply.ok) {
          const body = await reply.json().catch(() => ({}));
          this.#tell({ t: "failed", status: reply.status, message: body?.error?.message ?? `The service answered ${reply.status}.` });
          if (reply.status === 401 || reply.status === 403) {
            this.#heard = 0;
            await new Promise<void>((r) => (this.#wake = r)); // a tab comes with another key, or none is left
            continue;
          }
          throw new Error("busy");
        }
        this.#tell({ t: "open" });
        wait = 50;
        await this.#read(reply);
      } catch {
        this.#heard = 0;
        if (!this.#stop.signal.aborted || this.#silent) {
          this.#tell({ t: "lost" });
          await Promise.race([pause(wait), new Promise<void>((r) => (this.#wake = r))]);
          wait = Math.min(wait * 2, 500);
        }
      }
    }
  }

  async #read(reply: Response) {
    const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      this.#heard = performance.now();
      if (done) {
        const { runs, feeds } = this.#wanted();
        if (!runs.size && !feeds.size) return;
        throw new Error("the end");
      }
      rest += value;
      const end = rest.lastIndexOf("\n");
      if (end < 0) continue;
      const list: HubEvent[] = [];
      for (const line of rest.slice(0, end).split("\n")) if (line) list.push(JSON.parse(line));
      rest = rest.slice(end + 1);
      this.#deal(list);
      await this.#room();
      if (this.#stop!.signal.aborted) return;
      const { runs, feeds } = this.#wanted();
      if (!runs.size && !feeds.size) return void this.#stop!.abort();
    }
  }

  #deal(list: HubEvent[]) {
    for (const e of list) if (e.event === "denied" && e.feed) this.denied.set(e.feed, e);
    for (const e of list) if (e.run && e.seq !== undefined) this.#at.set(e.run, e.seq);
    for (const tab of this.tabs) {
      const mine: HubEvent[] = [];
      let size = 0;
      for (const e of list) {
        if (!e.run) {
          if (tab.feeds.has(e.feed ?? e.event)) mine.push(e);
          continue;
        }
        const after = tab.runs.get(e.run);
        if (after === undefined || tab.slow) continue;
        const last = e.event === "done" || e.event === "missing";
        if (!last && e.seq !== undefined && e.seq <= after) continue; // a second copy
        if (last) tab.runs.delete(e.run);
        else tab.runs.set(e.run, e.seq ?? after);
        size += (e.data?.length ?? e.data_base64?.length ?? 0) + 64;
        mine.push(e);
      }
      if (!mine.length) continue;
      tab.waiting += size;
      tab.port.postMessage({ t: "events", list: mine, size } satisfies FromHub);
    }
  }

  /** Waits for tabs that have not confirmed much; one that does not in time is left out for now. */
  async #room() {
    const full = () => [...this.tabs].filter((tab) => !tab.slow && tab.waiting > HIGH);
    for (const began = Date.now(); full().length; ) {
      if (Date.now() - began > SLOW_MS) {
        for (const tab of full()) tab.slow = true;
        this.check();
        return;
      }
      await Promise.race([pause(100), new Promise<void>((r) => (this.#wake = r))]);
    }
  }

  confirm(tab: Tab, size: number) {
    tab.waiting -= size;
    if (tab.waiting <= HIGH / 2) this.#wake();
    if (tab.slow && tab.waiting <= 0) {
      tab.slow = false;
      this.check();
    }
  }
}

const links = new Map<string, Link>();

export function join(port: MessagePort) {
  const tab: Tab = { port, key: "", runs: new Map(), feeds: new Set(), waiting: 0, slow: false };
  const leave = () => {
    const link = links.get(tab.key);
    link?.tabs.delete(tab);
    link?.check();
  };
  const sit = (key: string) => {
    if (!links.has(key)) links.set(key, new Link(key));
    tab.key = key;
    links.get(key)!.tabs.add(tab);
  };
  port.onmessage = ({ data }: MessageEvent<ToHub>) => {
    if (data.t === "took") return links.get(tab.key)?.confirm(tab, data.size);
    if (data.t === "bye") return leave();
    if (data.key !== tab.key) leave();
    sit(data.key);
    for (const id of [...tab.runs.keys()]) if (!(id in data.runs)) tab.runs.delete(id);
    // The tab says where a run begins; after that the hub knows better.
    for (const [id, after] of Object.entries(data.runs)) if (!tab.runs.has(id)) tab.runs.set(id, after);
    const denied = data.feeds.filter((f) => !tab.feeds.has(f)).flatMap((f) => links.get(tab.key)!.denied.get(f) ?? []);
    if (denied.length) tab.port.postMessage({ t: "events", list: denied, size: 0 } satisfies FromHub);
    tab.feeds = new Set(data.feeds);
    if (data.lock && navigator.locks) void navigator.locks.request(data.lock, () => leave());
    links.get(tab.key)!.check();
  };
  port.start();
}

if ("onconnect" in globalThis)
  (globalThis as unknown as { onconnect: (e: MessageEvent) => void }).onconnect = (e) => join(e.ports[0]);
