// Types that the document of the service has no names for.

import type { NetworkList } from "./models.js";

/** Any JSON value. */
export type Json = any;

/** A file: text, bytes, or content with an encoding. */
export type FileContent = string | Uint8Array | { content: string; encoding?: "utf-8" | "base64"; executable?: boolean };

/** Files by name. */
export type Files = Record<string, FileContent>;

/** "none", "full", or a list of hosts: `{ allow: ["pypi.org:443"] }`. */
export type Network = "none" | "full" | NetworkList;

/** How one call ends before its answer. */
export interface CallOptions {
  /** Its abort ends the call, and cancels the run that the call waits for. */
  signal?: AbortSignal;
}

/** The rules of a client. */
export interface BelljarOptions {
  /** `http://HOST:PORT`, or `unix:/path/belljar.sock` in Node; `$BELLJAR_URL` or http://127.0.0.1:6000 by default. */
  url?: string;
  /** An API key; `$BELLJAR_API_KEY` by default. */
  key?: string;
  /** Milliseconds without a byte from the service; by default 60,000, and 900,000 while a program runs. */
  timeout?: number;
  /** How often a request is tried again where that is safe; 3 by default. */
  retries?: number;
}
