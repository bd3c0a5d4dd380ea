// The audit log: every event of the service, each bound to the ones before it, and a check of the whole.
import { useState } from "preact/hooks";
import { get, json, words } from "../kit/api";
import { ago, count, moment } from "../kit/format";
import { Chip, Loading, Problem, useLoad } from "../kit/parts";
import { copy, toast } from "../kit/say";

interface Record {
  seq: number;
  time: string | null;
  kind: string;
  subject: string;
  actor: string;
  detail: { [name: string]: unknown } | null;
  hash: string;
}
interface Page {
  records: Record[];
  next_cursor: string | null;
}
interface Check {
  holds: boolean;
  records: number;
  rows: number;
  removed: number;
  head: string;
  broken_seq: number | null;
  problem: string | null;
}

function Verified({ check }: { check: Check }) {
  return (
    <section class={`card verified ${check.holds ? "" : "broken"}`} aria-label="Check of the log" role="status">
      <p>
        <Chip tone={check.holds ? "good" : "bad"}>{check.holds ? "The chain holds" : "The log was changed"}</Chip>{" "}
        {check.holds
          ? `${count(check.records, "record")} follow from each other, and ${count(check.rows, "row")} are as their records say.`
          : `Record ${check.broken_seq}: ${check.problem}`}
        {check.removed > 0 && ` Records up to ${check.removed} were removed by the age or size of the log, which is on record.`}
      </p>
      <p class="muted">
        Note the head elsewhere: <code class="hash">{check.head}</code>{" "}
        <button class="button small" onClick={() => void copy(check.head, "The head")}>
          Copy
        </button>{" "}
        A log that was rewritten as a whole is found by its seals, which only the machine of the service has:{" "}
        <code>belljar audit verify</code>
      </p>
    </section>
  );
}

/** A subject that has a view of its own is a link. */
function Subject({ kind, name }: { kind: string; name: string }) {
  const path = name.startsWith("run_") ? "runs" : name.startsWith("apr_") ? "approvals" : name.startsWith("ses_") ? "sessions" : "";
  if (!path || kind.endsWith(".removed")) return <span class="mono" title={name}>{name.slice(0, 18) || "–"}</span>;
  return <a class="mono" href={`#/${path}/${encodeURIComponent(name)}`}>{name.slice(0, 18)}</a>;
}

const facts = (detail: Record["detail"]) =>
  Object.entries(detail ?? {}).filter(([k, v]) => k !== "digest" && k !== "spec" && v !== null).map(([k, v]) => `${k}: ${typeof v === "string" ? v : JSON.stringify(v)}`).join(", ");

export function AuditView(_: { parts: string[] }) {
  const [pages, setPages] = useState<Page[]>([]);
  const [check, setCheck] = useState<Check | null>(null);
  const [busy, setBusy] = useState(false);
  const [kind, setKind] = useState("");
  const first = useLoad("audit", (signal) => get<Page>("/v1/audit", { signal }));
  const verify = async () => {
    setBusy(true);
    try {
      setCheck(await json<Check>("POST", "/v1/audit/verify"));
    } catch (e) {
      toast(words(e), "bad");
    }
    setBusy(false);
  };
  const all = first.value ? [first.value, ...pages] : [];
  const cursor = all.at(-1)?.next_cursor;
  const records = all.flatMap((p) => p.records);
  const kinds = [...new Set(records.map((r) => r.kind))].sort();
  const more = () =>
    get<Page>(`/v1/audit?cursor=${cursor}`).then((p) => setPages([...pages, p]), (e) => toast(words(e), "bad"));
  return (
    <>
      <div class="page-head">
        <h1>Audit</h1>
        <span class="grow" />
        <label>
          <span class="sr-only">Kind of record</span>
          <select class="field" value={kind} onChange={(e) => setKind(e.currentTarget.value)}>
            <option value="">every kind</option>
            {kinds.map((k) => <option key={k}>{k}</option>)}
          </select>
        </label>
        <button class="button" onClick={() => (setPages([]), first.again())}>
          Refresh
        </button>
        <button class="button primary" disabled={busy} onClick={() => void verify()}>
          {busy && <span class="spinner" aria-hidden="true" />} Verify the log
        </button>
      </div>
      {check && <Verified check={check} />}
      {first.error != null && <Problem error={first.error} retry={first.again} />}
      {!first.value && first.error == null && <Loading what="the audit log" />}
      {first.value && (
        <div class="card scroll" tabIndex={0} role="region" aria-label="Records">
          <table class="grid">
            <thead>
              <tr>
                <th scope="col" class="number">Record</th>
                <th scope="col">When</th>
                <th scope="col">Event</th>
                <th scope="col">About</th>
                <th scope="col">By</th>
                <th scope="col">Facts</th>
                <th scope="col">Hash</th>
              </tr>
            </thead>
            <tbody>
              {records.filter((r) => !kind || r.kind === kind).map((r) => (
                <tr key={r.seq}>
                  <td class="number">{r.seq}</td>
                  <td title={moment(r.time)}>{ago(r.time)}</td>
                  <td>{r.kind}</td>
                  <td><Subject kind={r.kind} name={r.subject} /></td>
                  <td>{r.actor}</td>
                  <td class="facts-cell" title={JSON.stringify(r.detail)}>{facts(r.detail)}</td>
                  <td class="mono muted" title={r.hash}>{r.hash.slice(0, 12)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {cursor && (
        <p class="more">
          <button class="button" onClick={() => void more()}>
            Older records
          </button>
        </p>
      )}
    </>
  );
}
