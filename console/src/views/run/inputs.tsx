// Everything that a run gets beside its program.
import { useRef, useState } from "preact/hooks";
import { get } from "../../kit/api";
import { bytes, count, duration } from "../../kit/format";
import { Loading, Problem, useLoad } from "../../kit/parts";
import { toast } from "../../kit/say";
import { type Draft, readFile } from "./draft";

type Change = (part: Partial<Draft>) => void;
type Tab = "files" | "args" | "env" | "stdin" | "limits" | "network" | "options";

const LARGEST = 16 << 20;
const filled = (text: string) => text.split("\n").filter((line) => line.trim() !== "").length;

export async function addFiles(draft: Draft, list: Iterable<File>, change: Change) {
  const files = [...draft.files];
  for (const file of list) {
    if (file.size > LARGEST) {
      toast(`${file.name} has ${bytes(file.size)}; a file of a run may have up to ${bytes(LARGEST)}.`, "bad");
      continue;
    }
    const made = await readFile(file);
    const at = files.findIndex((f) => f.name === made.name);
    if (at >= 0) files[at] = made;
    else files.push(made);
  }
  change({ files });
}

function Files({ draft, change }: { draft: Draft; change: Change }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div>
      <p class="hint">
        Files lie beside the program in <code>/sandbox</code>. Drop them anywhere on this page, or{" "}
        <button class="link" onClick={() => input.current!.click()}>
          choose files
        </button>
        .
      </p>
      <input
        ref={input}
        type="file"
        multiple
        class="sr-only"
        aria-label="Choose files"
        tabIndex={-1}
        onChange={(e) => void addFiles(draft, e.currentTarget.files ?? [], change)}
      />
      <ul class="plain-list">
        {draft.files.map((f) => (
          <li key={f.name}>
            <code>{f.name}</code> <span class="muted">{bytes(f.size)}</span>
            <button
              class="icon"
              aria-label={`Remove ${f.name}`}
              onClick={() => change({ files: draft.files.filter((o) => o !== f) })}
            >
              ✕
            </button>
          </li>
        ))}
      </ul>
      <Text label="Files to fetch afterwards, one on each line" value={draft.outputs} rows={2} placeholder="plot.png"
        set={(outputs) => change({ outputs })} />
    </div>
  );
}

function Text(props: { label: string; value: string; rows?: number; placeholder?: string; set: (v: string) => void }) {
  return (
    <label class="stack">
      <span>{props.label}</span>
      <textarea class="field mono" rows={props.rows ?? 4} value={props.value} placeholder={props.placeholder}
        spellcheck={false} onInput={(e) => props.set(e.currentTarget.value)} />
    </label>
  );
}

interface LimitRow {
  description?: string;
  default?: number;
  maximum?: number;
}

/** The bounds are those of the service, from its own description. */
function Limits({ draft, change }: { draft: Draft; change: Change }) {
  const loaded = useLoad("limits", async (signal) => {
    const document = await get<any>("/openapi.json", { signal });
    return document.components.schemas.Limits.properties as Record<string, any>;
  });
  if (loaded.error) return <Problem error={loaded.error} retry={loaded.again} />;
  if (!loaded.value) return <Loading what="the limits" />;
  const shown = (key: string, n?: number) =>
    n === undefined ? "" : key.endsWith("_ms") ? duration(n) : /memory|disk|output/.test(key) ? bytes(n) : String(n);
  const bound = (row: any): LimitRow => {
    const all = [row, ...(row.oneOf ?? row.anyOf ?? [])];
    const pick = (name: string) => all.find((r: any) => r[name] !== undefined)?.[name];
    return { description: pick("description"), default: pick("default"), maximum: pick("maximum") };
  };
  return (
    <div class="limits">
      {Object.entries(loaded.value).map(([key, row]) => {
        const { description, default: usual, maximum } = bound(row);
        return (
          <label key={key} class="limit" title={description}>
            <span>{key}</span>
            <input class="field mono" value={draft.limits[key] ?? ""} placeholder={shown(key, usual) || "default"}
              onInput={(e) => change({ limits: { ...draft.limits, [key]: e.currentTarget.value } })} />
            <span class="muted">up to {shown(key, maximum) || "the maximum"}</span>
          </label>
        );
      })}
    </div>
  );
}

function Options({ draft, change }: { draft: Draft; change: Change }) {
  const rows: [keyof Draft, string, string][] = [
    ["profile", "Profile", "Where time and memory went. The start is cold, and there is no rich output."],
    ["display", "Rich output", "Python only: figures, tables and the value of the last expression."],
    ["ask", "Ask for approval", "A person with the right to approve decides before the program starts."],
  ];
  // A profiler has no displays, so one option switches the other off.
  const set = (key: keyof Draft, on: boolean) =>
    change({ ...(on && key === "profile" && { display: false }), ...(on && key === "display" && { profile: false }), [key]: on });
  return (
    <div class="options">
      {rows.map(([key, name, help]) => (
        <label key={key} class="check">
          <input type="checkbox" checked={draft[key] as boolean} onChange={(e) => set(key, e.currentTarget.checked)} />
          <span>
            <b>{name}</b>
            <span class="muted"> {help}</span>
          </span>
        </label>
      ))}
    </div>
  );
}

export function Inputs({ draft, change }: { draft: Draft; change: Change }) {
  const [tab, setTab] = useState<Tab | null>(null);
  const limits = Object.values(draft.limits).filter((v) => v.trim()).length;
  const tabs: [Tab, string, number][] = [
    ["files", "Files", draft.files.length],
    ["args", "Arguments", filled(draft.args)],
    ["env", "Variables", filled(draft.env)],
    ["stdin", "Input", draft.stdin ? 1 : 0],
    ["limits", "Limits", limits],
    ["network", "Network", filled(draft.network)],
    ["options", "Options", [draft.profile, draft.display, draft.ask].filter(Boolean).length],
  ];
  return (
    <section class="inputs" aria-label="Input of the run">
      <div class="tabs">
        {tabs.map(([key, name, n]) => (
          <button key={key} aria-expanded={tab === key} onClick={() => setTab(tab === key ? null : key)}>
            {name}
            {n > 0 && <span class="count" aria-label={count(n, "entry", "entries")}>{n}</span>}
          </button>
        ))}
      </div>
      {tab && (
        <div class="tab-body">
          {tab === "files" && <Files draft={draft} change={change} />}
          {tab === "args" && (
            <Text label="Arguments, one on each line" value={draft.args} set={(args) => change({ args })} />
          )}
          {tab === "env" && (
            <Text label="Variables, NAME=VALUE on each line" value={draft.env} set={(env) => change({ env })} />
          )}
          {tab === "stdin" && (
            <>
              <Text label="Standard input from the start" value={draft.stdin} set={(stdin) => change({ stdin })} />
              <label class="check">
                <input type="checkbox" checked={draft.stdinOpen}
                  onChange={(e) => change({ stdinOpen: e.currentTarget.checked })} />
                <span>Keep it open, and type more while the program runs</span>
              </label>
            </>
          )}
          {tab === "limits" && <Limits draft={draft} change={change} />}
          {tab === "network" && (
            <Text label="Hosts that the program may reach, HOST or HOST:PORT on each line. Nothing: no network."
              value={draft.network} placeholder="example.org:443" set={(network) => change({ network })} />
          )}
          {tab === "options" && <Options draft={draft} change={change} />}
        </div>
      )}
    </section>
  );
}
