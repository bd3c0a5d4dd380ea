// The messages between a tab and the hub.
import type { RunEvent } from "./types";

export interface HubEvent extends Omit<RunEvent, "event"> {
  event: string;
  run?: string;
  feed?: string;
  message?: string;
}
export type ToHub =
  /** All that the tab wants. `runs`: the last event that it has of each; `lock`: held while the tab lives. */
  | { t: "want"; key: string; runs: Record<string, number>; feeds: string[]; lock?: string }
  | { t: "took"; size: number }
  | { t: "bye" };
export type FromHub =
  | { t: "events"; list: HubEvent[]; size: number }
  | { t: "open" }
  | { t: "lost" }
  | { t: "failed"; status: number; message: string };
