// Values in words for people.
import { serverNow } from "./clock";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytes(n: number | null | undefined): string {
  if (n == null) return "–";
  let unit = 0;
  while (n >= 1024 && unit < UNITS.length - 1) {
    n /= 1024;
    unit++;
  }
  return `${unit === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${UNITS[unit]}`;
}

export function duration(ms: number | null | undefined): string {
  if (ms == null) return "–";
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`;
  const s = Math.round(ms / 1000);
  return `${Math.floor(s / 60)} min ${s % 60} s`;
}

/** "3 min ago"; the exact time belongs into a title. */
export function ago(time: string | null, now = serverNow()): string {
  if (!time) return "–";
  const s = Math.max(0, (now - Date.parse(time)) / 1000);
  if (s < 5) return "just now";
  if (s < 60) return `${Math.floor(s)} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ago`;
  return `${Math.floor(s / 86400)} d ago`;
}

export const moment = (time: string | null) => (time ? new Date(time).toLocaleString() : "");

export const count = (n: number, one: string, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

/** The end of a run as a sentence, and its colour. */
const VERDICTS: Record<string, [string, Tone]> = {
  ok: ["Finished", "good"],
  runtime_error: ["The program failed", "bad"],
  compile_error: ["It does not compile", "bad"],
  timeout: ["Out of time", "bad"],
  cpu_timeout: ["Out of CPU time", "bad"],
  memory_limit: ["Out of memory", "bad"],
  output_limit: ["Too much output", "bad"],
  process_limit: ["Too many processes", "bad"],
  disk_limit: ["The disk is full", "bad"],
  cancelled: ["Cancelled", "idle"],
  rejected: ["Rejected", "warn"],
  internal_error: ["The service failed", "bad"],
};
export type Tone = "good" | "bad" | "warn" | "idle" | "busy";
const STATES: Record<string, [string, Tone]> = {
  waiting: ["Waits for approval", "warn"],
  queued: ["Queued", "busy"],
  running: ["Running", "busy"],
  interrupted: ["Interrupted by a restart", "warn"],
  finished: ["Finished", "good"],
};

export function ending(state: string, verdict: string | null): [string, Tone] {
  if (verdict) return VERDICTS[verdict] ?? [verdict.replaceAll("_", " "), "bad"];
  return STATES[state] ?? [state, "idle"];
}

/** The name of a MIME type for a file; null: it is not shown. */
export function imageType(name: string): string | null {
  const types: Record<string, string> = {
    png: "image/png",
    jpg: "image/jpeg",
    jpeg: "image/jpeg",
    gif: "image/gif",
    webp: "image/webp",
    svg: "image/svg+xml",
  };
  return types[name.toLowerCase().split(".").pop() ?? ""] ?? null;
}
