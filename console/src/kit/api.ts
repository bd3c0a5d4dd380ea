// The client of the service. The key is a header, never a cookie: no other page can use it.
import { setServerTime } from "./clock";
import { Store } from "./store";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field: string | null = null,
  ) {
    super(message);
  }
}

/** No answer at all: the service is stopped, restarts, or the network is gone. */
export class Unreachable extends Error {
  constructor() {
    super("The service does not answer. The console tries again by itself; your text is kept.");
  }
}

/** "slow": a request has had no answer for a while. */
export type Link = "on" | "slow" | "off";
export const link = new Store<Link>("on");
/** A promise that waits for a key is pending while this is true. */
export const keyWanted = new Store<{ why: string } | null>(null);

const KEPT = "belljar.key";
let key = sessionStorage.getItem(KEPT) ?? "";
let waiting: { promise: Promise<void>; resolve: () => void } | null = null;

const onKeys = new Set<() => void>();
export const keyText = () => key;
/** After each change of the key. */
export const onKey = (on: () => void) => void onKeys.add(on);

export function giveKey(text: string, keep: boolean) {
  key = text.trim();
  for (const on of onKeys) on();
  if (keep) sessionStorage.setItem(KEPT, key);
  else sessionStorage.removeItem(KEPT);
  keyWanted.value = null;
  waiting?.resolve();
  waiting = null;
}

export function forgetKey() {
  key = "";
  sessionStorage.removeItem(KEPT);
}

export const hasKey = () => key !== "";

function askForKey(why: string) {
  if (!waiting) {
    let resolve = () => {};
    const promise = new Promise<void>((r) => (resolve = r));
    waiting = { promise, resolve };
  }
  keyWanted.value = { why };
  return waiting.promise;
}

async function failure(reply: Response): Promise<ApiError> {
  let code = "error";
  let message = `The service answered ${reply.status}.`;
  let field: string | null = null;
  try {
    const body = await reply.json();
    const error = body.error ?? body;
    code = error.code ?? code;
    message = error.message ?? body.detail ?? message;
    field = error.field ?? null;
  } catch {
    // An answer of something between us and the service.
  }
  return new ApiError(reply.status, code, message, field);
}

export interface Options {
  body?: unknown;
  signal?: AbortSignal;
  accept?: string;
  range?: string;
  /** A poll does not ask for a key and does not change the state of the link by an abort. */
  quiet?: boolean;
  /** The service answers at once; a GET always does. */
  quick?: boolean;
}

/** After this time a person is told that the answer takes long. The request goes on: it may not be safe to repeat. */
const SLOW_MS = 4000;
let slow = 0;

/** Watches one request; the returned function ends the watch. */
function watchSlow(): () => void {
  let counted = false;
  const timer = setTimeout(() => {
    counted = true;
    slow++;
    if (link.value === "on") link.value = "slow";
  }, SLOW_MS);
  return () => {
    clearTimeout(timer);
    if (counted && --slow === 0 && link.value === "slow") link.value = "on";
  };
}

/** The answer, if it is a good one. Asks for a key and tries again if one is missing. */
export async function call(method: string, path: string, options: Options = {}): Promise<Response> {
  for (;;) {
    const headers: Record<string, string> = {};
    const used = key;
    if (key) headers["Authorization"] = `Bearer ${key}`;
    if (options.range) headers["Range"] = options.range;
    if (options.accept) headers["Accept"] = options.accept;
    if (options.body !== undefined) headers["Content-Type"] = "application/json";
    let reply: Response;
    const answered = method === "GET" || options.quick ? watchSlow() : () => {};
    try {
      reply = await fetch(path, {
        method,
        headers,
        body: options.body === undefined ? null : JSON.stringify(options.body),
        signal: options.signal ?? null,
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
      });
    } catch (error) {
      if (options.signal?.aborted) throw error;
      link.value = "off";
      throw new Unreachable();
    } finally {
      answered();
    }
    link.value = slow > 0 ? "slow" : "on";
    setServerTime(Date.parse(reply.headers.get("Date") ?? ""));
    if (reply.ok) return reply;
    const problem = await failure(reply);
    if (reply.status !== 401 || options.quiet) throw problem;
    if (used !== key) continue;
    await askForKey(used ? "The key was not accepted." : "");
  }
}

export async function json<T>(method: string, path: string, options: Options = {}): Promise<T> {
  const reply = await call(method, path, options);
  return reply.status === 204 ? (undefined as T) : ((await reply.json()) as T);
}

export const get = <T>(path: string, options: Options = {}) => json<T>("GET", path, options);

/** Bytes that only a request with a header can fetch, as an address for <img> and downloads. */
export async function blobUrl(path: string, type: string): Promise<string> {
  const reply = await call("GET", path);
  return URL.createObjectURL(new Blob([await reply.arrayBuffer()], { type }));
}

/** Saves bytes under a name of ours. */
export function save(url: string, name: string) {
  const a = document.createElement("a");
  a.href = url;
  a.download = name.split("/").pop() || "file";
  a.click();
}

export function words(error: unknown): string {
  if (error instanceof ApiError || error instanceof Unreachable) return error.message;
  if (error instanceof Error) return error.message;
  return String(error);
}

export const pause = (ms: number) => new Promise<void>((r) => setTimeout(r, ms));

// While there is no answer, one small question a second finds out when the service is back.
link.watch(async (state) => {
  while (state === "off" && link.value === "off") {
    await pause(1000);
    try {
      await fetch("/v1/health", { cache: "no-store", credentials: "omit" });
      link.value = "on";
    } catch {
      // Still away.
    }
  }
});
