// The request that a person prepares. It survives a reload and a crash of the tab.
export interface DraftFile {
  name: string;
  content: string;
  encoding: "utf-8" | "base64";
  size: number;
}
export interface Draft {
  code: string;
  language: string; // "": the service finds it
  args: string; // one on each line
  env: string; // NAME=VALUE lines
  stdin: string;
  stdinOpen: boolean;
  network: string; // hosts, one on each line
  outputs: string; // names, one on each line
  limits: Record<string, string>;
  profile: boolean;
  display: boolean;
  ask: boolean; // a person approves first
  files: DraftFile[];
}

export const EXAMPLE = `# Every run gets a jar of its own. Press Ctrl+Enter.
import time

for i in range(1, 6):
    print(f"{i} squared is {i * i}", flush=True)
    time.sleep(0.2)
`;

export const EMPTY: Draft = {
  code: "",
  language: "",
  args: "",
  env: "",
  stdin: "",
  stdinOpen: false,
  network: "",
  outputs: "",
  limits: {},
  profile: false,
  display: false,
  ask: false,
  files: [],
};

const KEPT = "belljar.draft";
const EARLIER = "belljar.drafts";
const FILES_KEPT = 1 << 20;

/** The name of this tab, also after a reload. */
const TAB = (() => {
  const name = sessionStorage.getItem("belljar.tab") ?? Math.random().toString(36).slice(2);
  sessionStorage.setItem("belljar.tab", name);
  return name;
})();

/** The draft that was kept last, and the tab that kept it. */
function stored(): (Draft & { tab?: string }) | null {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "null");
  } catch {
    return null; // a draft of another version
  }
}

export function loadDraft(): Draft {
  const { tab: _, ...kept } = stored() ?? { code: EXAMPLE };
  return { ...EMPTY, ...kept };
}

export function saveDraft(draft: Draft) {
  const size = draft.files.reduce((sum, f) => sum + f.content.length, 0);
  const kept = size > FILES_KEPT ? { ...draft, files: [] } : draft;
  const old = stored();
  if (old && old.tab !== TAB && old.code !== draft.code) rememberDraft(old); // another tab may have it on its screen
  try {
    localStorage.setItem(KEPT, JSON.stringify({ ...kept, tab: TAB }));
  } catch {
    // The browser's store is full: the text on the screen is still there.
  }
}

/** The draft that another program replaces can be brought back. */
export function rememberDraft(draft: Draft) {
  if (draft.code.trim() === "" || draft.code === EXAMPLE) return;
  const list = earlierDrafts().filter((d) => d.code !== draft.code);
  try {
    localStorage.setItem(EARLIER, JSON.stringify([{ ...draft, files: [] }, ...list].slice(0, 10)));
  } catch {
    // See saveDraft().
  }
}

export function earlierDrafts(): Draft[] {
  try {
    return JSON.parse(localStorage.getItem(EARLIER) ?? "[]");
  } catch {
    return [];
  }
}

const lines = (text: string) => text.split("\n").filter((line) => line !== "");
const trimmed = (text: string) => lines(text).map((line) => line.trim()).filter(Boolean);

export function toRequest(d: Draft): Record<string, unknown> {
  const body: Record<string, unknown> = { code: d.code };
  if (d.language) body.language = d.language;
  if (d.args) body.args = lines(d.args);
  const env = trimmed(d.env).map((line) => {
    const at = line.indexOf("=");
    return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1)];
  });
  if (env.length) body.env = Object.fromEntries(env);
  if (d.stdin) body.stdin = d.stdin;
  if (d.stdinOpen) body.stdin_open = true;
  const hosts = trimmed(d.network);
  if (hosts.length) body.network = { allow: hosts };
  if (trimmed(d.outputs).length) body.outputs = trimmed(d.outputs);
  const limits = Object.entries(d.limits).filter(([, v]) => v.trim() !== "");
  if (limits.length) body.limits = Object.fromEntries(limits.map(([k, v]) => [k, /^\d+$/.test(v.trim()) ? Number(v) : v.trim()]));
  if (d.profile) body.profile = true;
  if (d.display) body.display = true;
  if (d.ask) body.permission_mode = "default";
  if (d.files.length)
    body.files = d.files.map((f) => ({ name: f.name, content: f.content, encoding: f.encoding }));
  return body;
}

/** A request of the history as a draft. */
export function fromRequest(request: Record<string, any>, code: string | null, language: string | null): Draft {
  const files: DraftFile[] = [];
  const add = (name: string, v: any) => {
    const content = typeof v === "string" ? v : v.content;
    files.push({ name, content, encoding: v.encoding === "base64" ? "base64" : "utf-8", size: content.length });
  };
  if (Array.isArray(request.files)) for (const f of request.files) add(f.name, f);
  else for (const [name, f] of Object.entries(request.files ?? {})) add(name, f);
  return {
    ...EMPTY,
    code: typeof request.code === "string" ? request.code : (code ?? ""),
    language: request.language ?? language ?? "",
    args: (request.args ?? []).join("\n"),
    env: Object.entries(request.env ?? {}).map(([k, v]) => `${k}=${v}`).join("\n"),
    stdin: request.stdin ?? "",
    stdinOpen: request.stdin_open ?? false,
    network: (request.network?.allow ?? []).join("\n"),
    outputs: (request.outputs ?? []).join("\n"),
    limits: Object.fromEntries(Object.entries(request.limits ?? {}).map(([k, v]) => [k, String(v)])),
    profile: request.profile ?? false,
    display: request.display ?? false,
    files,
  };
}

/** A file of the disk, as text if it is text. */
export async function readFile(file: File): Promise<DraftFile> {
  const data = new Uint8Array(await file.arrayBuffer());
  const name = (file.webkitRelativePath || file.name).replace(/^\/+/, "");
  try {
    const content = new TextDecoder("utf-8", { fatal: true }).decode(data);
    if (!content.includes("\0")) return { name, content, encoding: "utf-8", size: data.length };
  } catch {
    // Bytes.
  }
  let raw = "";
  for (let i = 0; i < data.length; i += 0x8000) raw += String.fromCharCode(...data.subarray(i, i + 0x8000));
  return { name, content: btoa(raw), encoding: "base64", size: data.length };
}
