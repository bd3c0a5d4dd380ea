// One program on many inputs, or many programs on the same inputs, as a table that fills while they run.
import { useRef, useState } from "preact/hooks";
import { call, get } from "../kit/api";
import { bytes, count, duration } from "../kit/format";
import { Choice, Chip, Ending, Loading, Problem, useLoad } from "../kit/parts";
import { rename } from "../kit/router";
import { announce } from "../kit/say";
import { read } from "../kit/stream";
import type { RunRow, Usage } from "../kit/types";

interface Outcome {
  run_id?: string;
  id?: string;
  state?: string;
  verdict?: string;
  passed?: boolean | null;
  stdout?: string;
  usage?: Usage;
  error?: string;
  input?: string;
  difference?: { line: number; expected: string | null; got: string | null } | null;
}
interface GroupEvent {
  event: string;
  index?: number;
  variant?: string;
  result?: Outcome;
  id?: string;
  summary?: { total: number; ok: number; failed: number; passed: number };
  agreement?: { input: string; same_output: boolean }[];
  fastest?: { input: string; variant: string | null }[];
}
interface Input {
  stdin: string;
  expected: string;
}
interface Work {
  mode: "batch" | "compare";
  programs: { language: string; code: string }[];
  inputs: Input[];
}
const KEPT = "belljar.batch";
const EXAMPLE: Work = {
  mode: "batch",
  programs: [
    { language: "python", code: "n = int(input())\nprint(n * n)\n" },
    { language: "bash", code: "read n\necho $((n * n))\n" },
  ],
  inputs: [{ stdin: "3", expected: "9" }, { stdin: "12", expected: "144" }, { stdin: "5", expected: "26" }],
};
function load(): Work {
  try {
    return JSON.parse(localStorage.getItem(KEPT)!) ?? EXAMPLE;
  } catch {
    return EXAMPLE;
  }
}
const keep = (work: Work) => {
  try {
    localStorage.setItem(KEPT, JSON.stringify(work));
  } catch {
    // The text on the screen is still there.
  }
};
const LANGUAGES = ["python", "javascript", "typescript", "bash", "c", "cpp", "go", "rust", "java", "ruby", "php", "perl", "lua", "r", "sqlite"];

function Cell({ one }: { one?: Outcome }) {
  if (!one) return <span class="muted">…</span>;
  const id = one.run_id ?? one.id;
  return (
    <>
      {one.passed === false ? <Chip tone="bad">Differs</Chip> : one.passed ? <Chip tone="good">As expected</Chip>
        : <Ending state={one.state ?? "finished"} verdict={one.verdict ?? null} />}{" "}
      {one.difference && (
        <span class="muted" title={`line ${one.difference.line}: expected ${one.difference.expected}, got ${one.difference.got}`}>
          {one.difference.got ?? "nothing"}, not {one.difference.expected ?? "nothing"}
        </span>
      )}
      {!one.difference && <code>{(one.stdout ?? one.error ?? "").trim().split("\n")[0].slice(0, 60)}</code>}{" "}
      <span class="muted">{duration(one.usage?.wall_ms)} · {bytes(one.usage?.memory_peak_bytes)}</span>{" "}
      {id && <a href={`#/runs/${id}`}>open</a>}
    </>
  );
}

function Kept({ id }: { id: string }) {
  const loaded = useLoad(id, (signal) => get<{ finished: boolean; results: RunRow[] }>(`/v1/batches/${encodeURIComponent(id)}`, { signal }));
  return (
    <>
      <div class="page-head">
        <h1>Batch <span class="mono">{id.slice(0, 16)}</span></h1>
        <span class="grow" />
        <button class="button" onClick={loaded.again}>Refresh</button>
        <a class="button" href="#/batches">New batch</a>
      </div>
      {loaded.error != null && <Problem error={loaded.error} retry={loaded.again} />}
      {!loaded.value && loaded.error == null && <Loading what="the batch" />}
      {loaded.value && (
        <div class="card scroll" tabIndex={0} role="region" aria-label="Runs of the batch">
          <table class="grid">
            <thead><tr><th scope="col">Run</th><th scope="col">End</th><th scope="col">Language</th><th scope="col" class="number">Time</th><th scope="col" class="number">Memory</th></tr></thead>
            <tbody>
              {loaded.value.results.map((r) => (
                <tr key={r.id}>
                  <td><a class="mono" href={`#/runs/${r.id}`}>{r.id.slice(0, 16)}</a></td>
                  <td><Ending state={r.state} verdict={r.verdict} /></td>
                  <td>{r.language}</td>
                  <td class="number">{duration(r.usage?.wall_ms)}</td>
                  <td class="number">{bytes(r.usage?.memory_peak_bytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

export function BatchesView({ parts }: { parts: string[] }) {
  const [work, setWork] = useState(load);
  const [results, setResults] = useState<Record<number, Outcome>>({});
  const [end, setEnd] = useState<GroupEvent | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const stop = useRef<AbortController | null>(null);
  const own = useRef("");
  if (parts[0] && parts[0] !== own.current) return <Kept key={parts[0]} id={parts[0]} />;
  const change = (part: Partial<Work>) => {
    const next = { ...work, ...part };
    setWork(next);
    keep(next);
  };
  const batch = work.mode === "batch";
  const programs = batch ? work.programs.slice(0, 1) : work.programs;
  const run = async () => {
    setBusy(true);
    setError(null);
    setEnd(null);
    setResults({});
    stop.current = new AbortController();
    const inputs = work.inputs.map((i, n) => ({ name: `input ${n + 1}`, stdin: i.stdin, ...(batch && i.expected !== "" && { expected: i.expected }) }));
    const body = batch
      ? { run: programs[0], inputs, compare: "trim", stream: true, cancel_on_disconnect: true }
      : { variants: programs.map((p, i) => ({ name: `program ${i + 1}`, ...p })), inputs, stream: true, cancel_on_disconnect: true };
    try {
      const reply = await call("POST", batch ? "/v1/batches" : "/v1/comparisons", { body, signal: stop.current.signal, accept: "application/x-ndjson" });
      await read(reply, (event) => {
        const e = event as unknown as GroupEvent;
        if (e.event === "result" && e.index !== undefined) setResults((old) => ({ ...old, [e.index!]: e.result! }));
        if (e.event === "done") {
          setEnd(e);
          if (e.id) rename("batches", (own.current = e.id));
          announce("All runs ended.");
        }
      });
    } catch (problem) {
      if (!stop.current.signal.aborted) setError(problem);
    }
    setBusy(false);
  };
  const set = (i: number, part: Partial<Work["programs"][0]>) =>
    change({ programs: work.programs.map((p, n) => (n === i ? { ...p, ...part } : p)) });
  const setInput = (i: number, part: Partial<Input>) => change({ inputs: work.inputs.map((p, n) => (n === i ? { ...p, ...part } : p)) });
  const at = (variant: number, input: number) => results[batch ? input : variant * work.inputs.length + input];
  return (
    <>
      <div class="page-head">
        <h1>Batches</h1>
        <Choice label="Kind" value={work.mode} choose={(mode) => (change({ mode }), setResults({}), setEnd(null))}
          options={[["batch", "One program"], ["compare", "Compare programs"]]} />
        <span class="grow" />
        {busy ? <button class="button danger" onClick={() => stop.current?.abort()}>Stop</button>
          : <button class="button primary" onClick={() => void run()}>▶ Run {count(programs.length * work.inputs.length, "time")}</button>}
      </div>
      <p class="muted">
        {batch ? "One program runs on every input, each time in a jar of its own, and its output is compared with the expected one."
          : "Every program runs on every input, side by side: outputs and costs can be compared."}
      </p>
      <div class="programs">
        {programs.map((p, i) => (
          <section key={i} class="card pad" aria-label={`Program ${i + 1}`}>
            <div class="page-head">
              <label>
                <span class="sr-only">Language of program {i + 1}</span>
                <select class="field" value={p.language} onChange={(e) => set(i, { language: e.currentTarget.value })}>
                  {LANGUAGES.map((l) => <option key={l}>{l}</option>)}
                </select>
              </label>
              <span class="grow" />
              {!batch && programs.length > 2 && (
                <button class="icon" aria-label={`Remove program ${i + 1}`} onClick={() => change({ programs: work.programs.filter((_, n) => n !== i) })}>✕</button>
              )}
            </div>
            <textarea class="field mono" rows={6} aria-label={`Code of program ${i + 1}`} value={p.code} spellcheck={false}
              onInput={(e) => set(i, { code: e.currentTarget.value })} />
          </section>
        ))}
      </div>
      {!batch && programs.length < 8 && (
        <p><button class="button" onClick={() => change({ programs: [...work.programs, { language: "python", code: "" }] })}>Add a program</button></p>
      )}
      {error != null && <Problem error={error} />}
      <div class="card scroll" tabIndex={0} role="region" aria-label="Inputs and results">
        <table class="grid">
          <thead>
            <tr>
              <th scope="col">Input</th>
              {batch && <th scope="col">Expected output</th>}
              {programs.map((_, i) => <th key={i} scope="col" class={batch ? "result-column" : ""}>{batch ? "Result" : `Program ${i + 1}`}</th>)}
              {!batch && end && <th scope="col">Outputs</th>}
              <th scope="col"><span class="sr-only">Remove</span></th>
            </tr>
          </thead>
          <tbody>
            {work.inputs.map((input, n) => (
              <tr key={n}>
                <td><textarea class="field mono slim" rows={1} aria-label={`Input ${n + 1}`} value={input.stdin} onInput={(e) => setInput(n, { stdin: e.currentTarget.value })} /></td>
                {batch && <td><textarea class="field mono slim" rows={1} aria-label={`Expected output ${n + 1}`} value={input.expected} onInput={(e) => setInput(n, { expected: e.currentTarget.value })} /></td>}
                {programs.map((_, v) => <td key={v}>{(busy || at(v, n)) && <Cell one={at(v, n)} />}</td>)}
                {!batch && end && <td>{agrees(end, n)}</td>}
                <td>
                  {work.inputs.length > 1 && (
                    <button class="icon" aria-label={`Remove input ${n + 1}`} onClick={() => change({ inputs: work.inputs.filter((_, i) => i !== n) })}>✕</button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p>
        <button class="button" disabled={work.inputs.length >= 200} onClick={() => change({ inputs: [...work.inputs, { stdin: "", expected: "" }] })}>Add an input</button>{" "}
        {end?.summary && (
          <span role="status" class="muted">
            {end.summary.passed} of {count(end.summary.total, "run")} as expected, {end.summary.failed} not
          </span>
        )}
      </p>
    </>
  );
}

/** Whether all programs wrote the same for an input. */
function agrees(end: GroupEvent, n: number) {
  const one = end.agreement?.[n];
  if (!one) return "";
  return <Chip tone={one.same_output ? "good" : "warn"}>{one.same_output ? "equal" : "differ"}</Chip>;
}
