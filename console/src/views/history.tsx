// The runs of the service: find one, compare two, run one again.
import { useEffect, useState } from "preact/hooks";
import { get, words } from "../kit/api";
import { runAgain } from "../kit/again";
import { ago, bytes, duration, moment } from "../kit/format";
import { useCommands } from "../kit/palette";
import { Empty, Ending, Loading, Problem, useTick } from "../kit/parts";
import { go } from "../kit/router";
import { toast } from "../kit/say";
import type { Language, RunRow } from "../kit/types";
import { CompareView } from "./history/compare";

const VERDICTS = ["ok", "runtime_error", "compile_error", "timeout", "cpu_timeout", "memory_limit", "output_limit",
  "process_limit", "disk_limit", "cancelled", "rejected", "internal_error"];
const SINCE: [string, string][] = [["", "any time"], ["10m", "last 10 minutes"], ["1h", "last hour"], ["24h", "last day"], ["168h", "last week"]];

interface Filter {
  q: string;
  language: string;
  verdict: string;
  since: string;
  until: string;
  state: string;
  key: string;
  session: string;
  batch: string;
  artifact: string;
}
const NO_FILTER: Filter = {
  q: "", language: "", verdict: "", since: "", until: "", state: "", key: "", session: "", batch: "", artifact: "",
};
const STATES: [string, string][] = [["", "every state"], ...["waiting", "queued", "running", "finished", "interrupted"].map((s): [string, string] => [s, s])];
const TEXTS: [keyof Filter, string][] = [["key", "Key"], ["session", "Thread"], ["batch", "Batch"], ["artifact", "Artifact"]];

function Filters({ filter, set }: { filter: Filter; set: (part: Partial<Filter>) => void }) {
  const [languages, setLanguages] = useState<Language[]>([]);
  useEffect(() => void get<Language[]>("/v1/languages").then(setLanguages, () => {}), []);
  const list = (name: keyof Filter, label: string, options: [string, string][]) => (
    <label>
      <span class="sr-only">{label}</span>
      <select class="field" value={filter[name]} onChange={(e) => set({ [name]: e.currentTarget.value })}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <form class="filters" role="search" onSubmit={(e) => e.preventDefault()}>
      <label class="grow">
        <span class="sr-only">Text in the program</span>
        <input class="field" type="search" placeholder="Text in the program" value={filter.q}
          onInput={(e) => set({ q: e.currentTarget.value })} />
      </label>
      {list("language", "Language", [["", "every language"], ...languages.map((l): [string, string] => [l.name, l.name])])}
      {list("verdict", "End", [["", "every end"], ...VERDICTS.map((v): [string, string] => [v, v.replaceAll("_", " ")])])}
      {list("since", "Time", SINCE)}
      <details class="further">
        <summary class="button">More filters</summary>
        <div class="filters">
          {list("state", "State", STATES)}
          {list("until", "Older than", [["", "until now"], ...SINCE.slice(1).map(([v, t]): [string, string] => [v, `before the ${t}`])])}
          {TEXTS.map(([name, label]) => (
            <label key={name}>
              <span class="sr-only">{label}</span>
              <input class="field" placeholder={label} value={filter[name]} onInput={(e) => set({ [name]: e.currentTarget.value.trim() })} />
            </label>
          ))}
        </div>
      </details>
    </form>
  );
}

function Row(props: { row: RunRow; picked: boolean; pick: (on: boolean) => void; now: number }) {
  const { row } = props;
  const again = () => runAgain(row.id).catch((e) => toast(words(e), "bad"));
  return (
    <tr>
      <td>
        <input type="checkbox" aria-label={`Compare ${row.id}`} checked={props.picked}
          onChange={(e) => props.pick(e.currentTarget.checked)} />
      </td>
      <td>
        <Ending state={row.state} verdict={row.verdict} />
      </td>
      <td>
        <a href={`#/runs/${row.id}`} class="mono" title="Open the run">
          {row.id.slice(0, 16)}
        </a>
      </td>
      <td>{row.language}</td>
      <td title={moment(row.created_at)}>{ago(row.created_at, props.now)}</td>
      <td class="number">{duration(row.usage?.wall_ms)}</td>
      <td class="number">{bytes(row.usage?.memory_peak_bytes)}</td>
      <td>{row.key ?? <span class="muted">–</span>}</td>
      <td>
        <button class="button small" onClick={again} aria-label={`Run ${row.id} again`}>
          Again
        </button>
      </td>
    </tr>
  );
}

export function HistoryView({ parts }: { parts: string[] }) {
  if (parts[0] === "compare" && parts[1] && parts[2]) return <CompareView a={parts[1]} b={parts[2]} />;
  return <HistoryList />;
}

let kept = NO_FILTER;

function HistoryList() {
  const [filter, setFilter] = useState(kept);
  kept = filter; // the back button finds the same list
  const [rows, setRows] = useState<RunRow[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [picked, setPicked] = useState<string[]>([]);
  const [turn, setTurn] = useState(0);
  const now = useTick(5000);
  const query = (after?: string) => {
    const q = new URLSearchParams(Object.entries(filter).filter(([, v]) => v !== ""));
    q.set("limit", "50");
    if (after) q.set("cursor", after);
    return `/v1/runs?${q}`;
  };
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      get<{ runs: RunRow[]; next_cursor: string | null }>(query(), { signal: stop.signal }).then(
        (page) => (setRows(page.runs), setCursor(page.next_cursor), setError(null)),
        (e) => !stop.signal.aborted && setError(e),
      );
    }, filter.q ? 200 : 0);
    return () => (clearTimeout(timer), stop.abort());
  }, [filter, turn]);
  // A run that is not over changes by itself.
  const busy = rows?.some((r) => r.state === "running" || r.state === "queued" || r.state === "waiting");
  useEffect(() => {
    if (!busy) return;
    const timer = setInterval(() => setTurn((n) => n + 1), 2000);
    return () => clearInterval(timer);
  }, [busy]);
  const more = () =>
    get<{ runs: RunRow[]; next_cursor: string | null }>(query(cursor!)).then(
      (page) => (setRows([...rows!, ...page.runs]), setCursor(page.next_cursor)),
      (e) => toast(words(e), "bad"),
    );
  const pick = (id: string, on: boolean) => setPicked(on ? [...picked, id].slice(-2) : picked.filter((p) => p !== id));
  const compare = () => picked.length === 2 && go("history", "compare", picked[1], picked[0]);
  useCommands(() => [
    { name: "Refresh the history", run: () => setTurn((n) => n + 1) },
    { name: "Compare the two chosen runs", run: compare },
  ]);
  const filtered = Object.values(filter).some((v) => v !== "");
  return (
    <>
      <div class="page-head">
        <h1>History</h1>
        <span class="grow" />
        <span class="muted">{picked.length === 1 ? "Choose one more run to compare" : ""}</span>
        <button class="button" disabled={picked.length !== 2} onClick={compare}>
          Compare two runs
        </button>
        <button class="button" onClick={() => setTurn((n) => n + 1)}>
          Refresh
        </button>
      </div>
      <Filters filter={filter} set={(part) => setFilter({ ...filter, ...part })} />
      {error != null && <Problem error={error} retry={() => setTurn((n) => n + 1)} />}
      {rows === null && error == null && <Loading what="the history" />}
      {rows?.length === 0 &&
        (filtered ? (
          <Empty title="No run fits">
            <p>The text is searched in the main file, and capital letters count.</p>
            <button class="button" onClick={() => setFilter(NO_FILTER)}>
              Show all runs
            </button>
          </Empty>
        ) : (
          <Empty title="Nothing has run yet">
            <p>Every run of this service is listed here, from every client, with its program and its output.</p>
            <a class="button primary" href="#/run">
              Run a program
            </a>
          </Empty>
        ))}
      {rows && rows.length > 0 && (
        <div class="card scroll" tabIndex={0} role="region" aria-label="Runs">
          <table class="grid">
            <thead>
              <tr>
                <th scope="col"><span class="sr-only">Compare</span></th>
                <th scope="col">End</th>
                <th scope="col">Run</th>
                <th scope="col">Language</th>
                <th scope="col">When</th>
                <th scope="col" class="number">Time</th>
                <th scope="col" class="number">Memory</th>
                <th scope="col">Key</th>
                <th scope="col"><span class="sr-only">Run again</span></th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row key={row.id} row={row} now={now} picked={picked.includes(row.id)} pick={(on) => pick(row.id, on)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {cursor && (
        <p class="more">
          <button class="button" onClick={more}>
            Older runs
          </button>
        </p>
      )}
    </>
  );
}
