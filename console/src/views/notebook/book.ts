// The notebook of one session. The cells that ran are in the service; the page keeps only drafts and their order.
import { get, json, words } from "../../kit/api";
import { followFeed } from "../../kit/hub";
import { decode, Lines } from "../../kit/lines";
import { announce, toast } from "../../kit/say";
import { Store } from "../../kit/store";
import type { Diagnosis, Display, Usage } from "../../kit/types";
import { type Cell, type CellError, type CellEvent, cellsOf, follow, path, type Session } from "./api";

export type Phase = "sending" | "waiting" | "queued" | "running" | "over";
export interface Shown {
  phase: Phase;
  status: string | null;
  lost: boolean;
  problem: unknown;
  displays: (Display & { display_id?: string | null })[];
  result: Record<string, unknown> | null;
  count: number | null;
  error: CellError | null;
  diagnosis: Diagnosis | null;
  notes: string[];
  usage: Usage | null;
  asks: { prompt: string; password: boolean } | null;
  rolledBack: string;
  adopted: boolean;
}
const NOTHING: Shown = {
  phase: "sending", status: null, lost: false, problem: null, displays: [], result: null, count: null, error: null,
  diagnosis: null, notes: [], usage: null, asks: null, rolledBack: "", adopted: false,
};

/** One cell that ran or runs. */
export class CellRun {
  static #last = 0;
  readonly serial = ++CellRun.#last;
  readonly state = new Store<Shown>(NOTHING);
  id = "";
  number = 0;
  onLines: () => void = () => {};
  #lines: Lines | null = null;
  #text: [string, string] | null = null;
  #clearNext = false;

  constructor(readonly code: string) {}

  /** Made when it is first shown: most cells of a long notebook are never on the screen. */
  get lines(): Lines {
    if (!this.#lines) {
      this.#lines = new Lines();
      if (this.#text?.[0]) this.#lines.append("stdout", this.#text[0], 0);
      if (this.#text?.[1]) this.#lines.append("stderr", this.#text[1], 0);
      this.#text = null;
    }
    return this.#lines;
  }
  get printed(): boolean {
    return this.#text ? this.#text.some(Boolean) : this.lines.length("all") > 0;
  }

  set(part: Partial<Shown>) {
    this.state.value = { ...this.state.value, ...part };
  }

  /** The cell as the service keeps it. */
  fill(cell: Cell) {
    this.id = cell.id;
    this.number = cell.cell;
    const over = cell.status !== null;
    if (over && !this.#lines) this.#text = [cell.stdout ?? "", cell.stderr ?? ""];
    this.set({
      phase: over ? "over" : "queued", status: cell.status,
      rolledBack: cell.rolled_back ? (cell.rolled_back_by?.kind ?? "rollback") : "", adopted: !!cell.adopted_from,
      ...(over && {
        displays: cell.displays, result: cell.result, count: cell.execution_count, error: cell.error,
        diagnosis: cell.diagnosis ?? null, notes: cell.notes, usage: cell.usage ?? null, asks: null,
      }),
    });
  }

  take(e: CellEvent) {
    if (e.id) this.id = e.id;
    const now = this.state.value;
    if (e.event === "stdout" || e.event === "stderr") {
      this.#clear();
      this.lines.append(e.event, decode(e as { data?: string; data_base64?: string }), e.time_ms ?? 0);
      this.onLines();
      if (now.asks || now.phase !== "running") this.set({ asks: null, phase: "running" });
    } else if (e.event === "waiting") this.set({ phase: "waiting" });
    else if (e.event === "queued") this.set({ phase: "queued" });
    else if (e.event === "started") this.set({ phase: "running" });
    else if (e.event === "input_request") this.set({ asks: { prompt: e.prompt ?? "", password: !!e.password } });
    else if (e.event === "clear") {
      this.#clearNext = true;
      if (!e.wait) this.#clear();
    } else if (e.event === "display" || e.event === "update_display") this.#display(e);
    else if (e.event === "result") this.set({ result: e.data as Record<string, unknown>, count: e.execution_count ?? null });
    else if (e.event === "error")
      this.set({ error: { name: e.name ?? "", message: e.message ?? "", traceback: e.traceback ?? "" } });
    else if (e.event === "done" && e.result) {
      const r = e.result;
      this.number = r.cell ?? this.number;
      this.set({
        phase: "over", status: r.status, diagnosis: r.diagnosis ?? null, usage: r.usage ?? null, notes: r.notes ?? [],
        asks: null, lost: false,
      });
    }
  }

  #clear() {
    if (!this.#clearNext) return;
    this.#clearNext = false;
    this.lines.clear();
    this.onLines();
    this.set({ displays: [] });
  }

  #display(e: CellEvent) {
    this.#clear();
    const made = { data: e.data as Record<string, unknown>, display_id: e.display_id ?? null, cut: e.cut } as Shown["displays"][0];
    const { displays } = this.state.value;
    if (e.event === "display") return this.set({ displays: [...displays, made] });
    this.set({ displays: displays.map((d) => (d.display_id && d.display_id === made.display_id ? made : d)) });
  }
}

/** A place in the notebook: a draft, and the run that is shown below it. */
export interface Slot {
  key: number;
  code: string;
  run: CellRun | null;
  earlier: string[];
  text: boolean;
}
interface Kept {
  r?: string;
  c?: string;
  e?: string[];
  t?: 1;
}

let keys = 0;
const slot = (code: string, run: CellRun | null = null, earlier: string[] = [], text = false): Slot => ({
  key: ++keys, code, run, earlier, text,
});

export class Book {
  readonly session = new Store<Session | null>(null);
  readonly slots = new Store<Slot[]>([]);
  readonly problem = new Store<unknown>(null);
  /** Changes when variables may have changed. */
  readonly turn = new Store(0);
  readonly active = new Store<number>(0);
  cut = false;
  #runs = new Map<string, CellRun>();
  #stop = new AbortController();
  #unfollow = () => {};
  #asked: Promise<void> | null = null;
  #askedNext: Promise<void> | null = null;

  constructor(readonly id: string) {}

  async open() {
    try {
      const [session, list] = await Promise.all([get<Session>(path(this.id)), cellsOf(this.id)]);
      this.cut = list.cut || (list.cells[0]?.cell ?? 1) > 1;
      for (const cell of list.cells) this.#add(cell);
      this.slots.value = this.#arrange();
      this.session.value = session;
      this.turn.value++;
      this.#unfollow = followFeed("sessions", () => void this.poll());
    } catch (error) {
      this.problem.value = error;
    }
  }

  close() {
    this.#stop.abort();
    this.#unfollow();
    this.keep();
  }

  #add(cell: Cell): CellRun {
    let run = this.#runs.get(cell.id);
    if (run) return run;
    run = new CellRun(cell.code);
    run.fill(cell);
    this.#runs.set(cell.id, run);
    if (cell.status === null) this.#follow(run, { id: cell.id });
    return run;
  }

  numberOf(run: string): number | undefined {
    return this.#runs.get(run)?.number;
  }

  /** The order of this browser; cells that it does not know follow by their numbers. */
  #arrange(): Slot[] {
    const kept = this.#kept();
    this.#mine = new Set(kept.map((k) => k.c ?? ""));
    const known = new Set(kept.flatMap((k) => [k.r ?? "", ...(k.e ?? [])]));
    const made: Slot[] = [];
    for (const k of kept) {
      const run = this.#runs.get(k.r ?? "") ?? null;
      if (run || k.c !== undefined) made.push(slot(k.c ?? run!.code, run, k.e ?? [], k.t === 1));
    }
    while (made.length && !made.at(-1)!.run && !made.at(-1)!.code.trim()) made.pop();
    for (const run of this.#runs.values()) if (!known.has(run.id)) made.push(slot(run.code, run));
    made.push(slot(""));
    return made;
  }

  #kept(): Kept[] {
    try {
      return JSON.parse(localStorage.getItem(`belljar.book.${this.id}`) ?? "[]") as Kept[];
    } catch {
      return [];
    }
  }

  #mine = new Set<string>(); // drafts that this tab kept or found
  /** Drafts that another tab kept meanwhile: this one must not remove them. */
  #foreign(own: Set<string>): Kept[] {
    return this.#kept().filter((k) => !k.r && k.c?.trim() && !own.has(k.c) && !this.#mine.has(k.c));
  }

  /** The order and the drafts, for a reload. Code that ran is in the service. */
  keep() {
    const kept = this.slots.value.map((s): Kept => ({
      ...(s.run?.id && { r: s.run.id }),
      ...((!s.run || s.run.code !== s.code) && { c: s.code }),
      ...(s.earlier.length && { e: s.earlier }),
      ...(s.text && { t: 1 as const }),
    }));
    const own = new Set(this.slots.value.map((s) => s.code));
    const foreign = this.#foreign(own);
    this.#mine = own;
    try {
      localStorage.setItem(`belljar.book.${this.id}`, JSON.stringify([...kept, ...foreign]));
    } catch {
      toast("The browser has no room for drafts. Cells that ran are in the service.", "bad");
    }
  }

  /** One question at a time: a late answer with an old state would replace a newer one. */
  poll(): Promise<void> {
    if (this.#asked) return (this.#askedNext ??= this.#asked.then(() => {
      this.#askedNext = null;
      return this.poll();
    }));
    return (this.#asked = this.#ask().finally(() => (this.#asked = null)));
  }

  async #ask() {
    try {
      const session = await get<Session>(path(this.id), { quiet: true });
      const before = this.session.value;
      this.session.value = session;
      const known = Math.max(0, ...[...this.#runs.values()].map((r) => r.number));
      const sending = [...this.slots.value].some((s) => s.run && s.run.state.value.phase !== "over");
      if (session.cells > known && !sending) await this.more(known);
      if (before?.state !== session.state || before?.at_cell !== session.at_cell) this.turn.value++;
    } catch {
      // The bar of the page says that the service does not answer.
    }
  }

  /** Cells that another client ran, and the marks of cells that were undone. */
  async more(after = -1) {
    const list = await cellsOf(this.id, after >= 0 ? `after=${after}` : "limit=1000");
    const fresh: Slot[] = [];
    for (const cell of list.cells) {
      const old = this.#runs.get(cell.id);
      if (old) {
        if (old.state.value.phase === "over") old.fill(cell);
      } else fresh.push(slot(cell.code, this.#add(cell)));
    }
    if (!fresh.length) return;
    const slots = [...this.slots.value];
    const last = slots.at(-1);
    const at = last && !last.run && !last.code.trim() ? slots.length - 1 : slots.length;
    slots.splice(at, 0, ...fresh);
    this.slots.value = slots;
    this.keep();
  }

  #follow(run: CellRun, from: { code: string } | { id: string }) {
    const take = (e: CellEvent) => {
      const fresh = run.id === "" && e.id;
      run.take(e);
      if (fresh) {
        this.#runs.set(run.id, run);
        this.keep();
      }
    };
    follow(this.id, from, take, (lost) => run.set({ lost }), this.#stop.signal).then(
      () => this.#over(run),
      (problem) => (run.set({ problem, phase: "over" }), announce("The cell was refused.")),
    );
  }

  #over(run: CellRun) {
    if (this.#stop.signal.aborted) return;
    const { status } = run.state.value;
    announce(status === "ok" ? "The cell finished." : `The cell ended: ${status}`);
    if (status === "lost") void this.more();
    void this.poll().then(() => this.turn.value++);
  }

  run(key: number) {
    const s = this.slots.value.find((one) => one.key === key);
    if (!s || s.text || !s.code.trim()) return;
    if (s.run && s.run.state.value.phase !== "over") return;
    if (s.run?.id) s.earlier = [...s.earlier, s.run.id];
    s.run = new CellRun(s.code);
    this.change();
    this.#follow(s.run, { code: s.code });
  }

  change() {
    this.slots.value = [...this.slots.value];
  }

  #later = 0;
  edit(key: number, code: string) {
    const s = this.slots.value.find((one) => one.key === key);
    if (s) s.code = code;
    clearTimeout(this.#later);
    this.#later = setTimeout(() => this.keep(), 300) as unknown as number;
  }

  /** The cell before or after; there is always one below. */
  step(key: number, by: 1 | -1) {
    const slots = this.slots.value;
    const next = slots[slots.findIndex((s) => s.key === key) + by];
    if (next) this.active.value = next.key;
    else if (by === 1) this.insert(key);
  }

  insert(after: number, code = "", text = false) {
    const made = slot(code, null, [], text);
    const slots = [...this.slots.value];
    slots.splice(slots.findIndex((s) => s.key === after) + 1, 0, made);
    this.slots.value = slots;
    this.active.value = made.key;
    this.keep();
  }

  /** Only a draft can go: the record of a run stays in the service. */
  remove(key: number) {
    this.slots.value = this.slots.value.filter((s) => s.key !== key);
    if (!this.slots.value.length) this.slots.value = [slot("")];
    this.keep();
  }

  async ask<T>(rest: string, body: unknown = {}): Promise<T | null> {
    try {
      return await json<T>("POST", path(this.id, rest), { body });
    } catch (error) {
      toast(words(error), "bad");
      return null;
    }
  }

  async interrupt() {
    await this.ask("/interrupt");
  }
  async answer(text: string, eof = false) {
    return this.ask("/stdin", eof ? { text, eof } : { text });
  }
  /** After a change of the state of the session: rollback, undo, restart, adoption. */
  async moved() {
    await this.more().catch(() => {});
    await this.poll();
    this.turn.value++;
  }
}
