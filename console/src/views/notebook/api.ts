// Sessions as the service tells them (docs/sessions.md), and the events of a cell.
import { get, json } from "../../kit/api";
import { followRun, watchHub } from "../../kit/hub";
import type { Diagnosis, Display, RunEvent, Usage } from "../../kit/types";

export interface Session {
  id: string;
  name: string | null;
  language: string;
  state: string;
  cells: number;
  cell: number | null;
  at_cell: number;
  undo: number;
  awaits_input: boolean;
  memory_bytes: number | null;
  created_at: string;
  expires_at: string | null;
  ended_at: string | null;
  reason: string | null;
  sleep_error: string | null;
  parent: string | null;
}
export interface CellError {
  name: string;
  message: string;
  traceback: string;
}
export interface Cell {
  id: string;
  cell: number;
  state: string;
  status: string | null;
  verdict: string | null;
  code: string;
  stdout: string;
  stderr: string;
  result: Record<string, unknown> | null;
  execution_count: number | null;
  displays: Display[];
  error: CellError | null;
  diagnosis?: Diagnosis | null;
  usage?: Usage;
  notes: string[];
  rolled_back?: boolean;
  rolled_back_by?: { kind: string; to: number } | null;
  adopted_from?: string | null;
}
export interface CellEvent extends Omit<RunEvent, "event" | "result" | "data"> {
  event: string;
  data?: unknown;
  display_id?: string;
  execution_count?: number;
  prompt?: string;
  password?: boolean;
  wait?: boolean;
  name?: string;
  message?: string;
  traceback?: string;
  text?: string;
  note?: string;
  cut?: boolean;
  result?: Cell;
}
export interface Variable {
  name: string;
  type: string;
  preview?: string;
  size?: number;
  shape?: number[];
}

export const path = (id: string, rest = "") => `/v1/sessions/${encodeURIComponent(id)}${rest}`;

/** The languages that can be sessions. */
export const LANGUAGES = ["python", "javascript", "typescript", "bash", "sqlite", "postgres"];

export type Tone = "good" | "bad" | "warn" | "idle" | "busy";
const STATES: Record<string, [string, Tone]> = {
  starting: ["Starting", "busy"],
  idle: ["Ready", "good"],
  busy: ["Runs", "busy"],
  sleeping: ["Asleep", "idle"],
  waking: ["Wakes", "busy"],
  ended: ["Ended", "idle"],
};
export const stateOf = (state: string): [string, Tone] => STATES[state] ?? [state, "busy"];
export const titleOf = (s: { id: string; name: string | null }) => s.name || s.id.slice(0, 12);

/** Runs a cell (`code`), or joins one (`id`), and calls `on` once for each event until the last one. */
export async function follow(
  session: string,
  from: { code: string } | { id: string },
  on: (event: CellEvent) => void,
  lost: (lost: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  let id = "id" in from ? from.id : "";
  if ("code" in from) {
    const made = await json<{ id: string; state: string; cell: number }>("POST", path(session, "/exec"), {
      body: { code: from.code, wait: false }, signal, quick: true,
    });
    id = made.id;
    on({ event: made.state === "waiting" ? "waiting" : "queued", id });
  }
  const unwatch = watchHub((now) => lost(now === "lost"));
  await new Promise<void>((resolve, reject) => {
    const leave = followRun(id, (event) => {
      if (event.event === "missing") return reject(new Error(event.message));
      on(event as unknown as CellEvent);
      if (event.event === "done") resolve();
    });
    signal.addEventListener("abort", () => (leave(), resolve()));
  }).finally(unwatch);
}

export const cellsOf = (id: string, query = "limit=1000") =>
  get<{ cells: Cell[]; cut: boolean }>(path(id, `/cells?${query}`));
