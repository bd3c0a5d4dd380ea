// The end of a run: verdict, cost, cause, and everything that it made.
import { useEffect, useState } from "preact/hooks";
import type { Fix } from "../../editor/fix";
import { blobUrl, save } from "../../kit/api";
import { bytes, count, duration, ending, imageType } from "../../kit/format";
import { Chip, Sentence } from "../../kit/parts";
import { Rich } from "../../kit/rich";
import { toast } from "../../kit/say";
import type { Diagnosis, OutputFile, Profile, Result, Table } from "../../kit/types";

const LANGUAGE_FROM: Record<string, string> = {
  fence: "named in its fence",
  shebang: "found by its first line",
  content: "found by its text",
  given: "as you chose",
};
const STARTS: Record<string, string> = {
  warm: "warm: a jar waited",
  hatched: "hatched: forked into a new jar",
  cold: "cold: a new interpreter",
};

function Facts({ result: r }: { result: Result }) {
  const rows: [string, string, string?][] = [
    ["Language", `${r.language}${r.version ? ` ${r.version}` : ""}`, r.taken && LANGUAGE_FROM[r.taken.language_from]],
    ["Time", duration(r.usage.wall_ms), r.timings?.queued_ms ? `queued ${duration(r.timings.queued_ms)}` : undefined],
    ["CPU", duration(r.usage.cpu_ms)],
    ["Memory", bytes(r.usage.memory_peak_bytes), `of ${bytes(r.limits.memory)}`],
    ["Return code", String(r.exit_code), r.signal ?? undefined],
    ["Start", r.start ?? "–", r.start ? STARTS[r.start]?.split(": ")[1] : undefined],
    ["Processes", String(r.usage.pids_peak ?? "–"), `of ${r.limits.pids}`],
    ["Isolation", r.isolation.level, count(r.isolation.layers.length, "layer")],
  ];
  return (
    <dl class="facts">
      {rows.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            {note && <span class="muted"> {note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/* The program told them, and may have invented them: plain text. */
function Values({ d }: { d: Diagnosis }) {
  const frames = d.values?.frames ?? [];
  if (frames.length === 0) return null;
  return (
    <details class="values" open>
      <summary>Values, as the program told them</summary>
      {frames.map((f) => (
        <table key={`${f.file}:${f.line}:${f.function}`}>
          <caption class="muted">
            {f.file}:{f.line} {f.function}
          </caption>
          <tbody>
            {f.variables.map((v) => (
              <tr key={v.name}>
                <th scope="row">{v.name}</th>
                <td class="muted">
                  {[v.type, v.shape?.join(" × ") ?? (v.size !== null ? `of ${v.size}` : null), v.dtype].filter((x) => x).join(" ")}
                </td>
                <td>
                  <code>{v.masked ? "masked" : v.preview}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </details>
  );
}

export function Cause(props: { d: Diagnosis; fix: Fix; show: (line: number) => void; inEditor?: (file: string | null) => boolean }) {
  const { d } = props;
  const here = props.inEditor?.(d.location?.file ?? null) ?? true;
  const line = here ? (d.location?.line ?? null) : null;
  const faulty = d.excerpt.find((e) => e.line === line)?.text;
  return (
    <section class="cause" aria-label="Diagnosis">
      <h3>
        {d.type ?? d.category.replaceAll("_", " ")}
        {line !== null && (
          <button class="link" onClick={() => props.show(line)}>
            line {line}
          </button>
        )}
        {!here && (
          <code>
            {d.location!.file}
            {d.location!.line !== null && `:${d.location!.line}`}
          </code>
        )}
      </h3>
      <p>{d.message}</p>
      {d.excerpt.length > 0 && (
        <pre class="block excerpt" tabIndex={0}>
          {d.excerpt.map((e) => `${String(e.line).padStart(4)}  ${e.text}`).join("\n")}
        </pre>
      )}
      <ul class="suggestions">
        {d.suggestions.map((s) => (
          <li key={s.text}>
            <Sentence text={s.text} />
            {s.replacement && (
              <div class="fix">
                <code>{s.replacement}</code>
                {line !== null && (
                  <button class="button small" onClick={() => props.fix(line, s.replacement!, s.action, faulty)}>
                    Apply fix
                  </button>
                )}
              </div>
            )}
          </li>
        ))}
      </ul>
      <Values d={d} />
    </section>
  );
}

function Bars({ profile, show }: { profile: Profile; show: (line: number) => void }) {
  const most = Math.max(1, ...profile.timeline.map((m) => m.memory_bytes));
  const end = Math.max(1, ...profile.timeline.map((m) => m.ms));
  const points = (of: (m: Profile["timeline"][0]) => number) =>
    profile.timeline.map((m) => `${((m.ms / end) * 300).toFixed(1)},${(60 - of(m) * 58).toFixed(1)}`).join(" ");
  const cpu = Math.max(100, ...profile.timeline.map((m) => m.cpu_percent));
  return (
    <section aria-label="Profile">
      <h3>Profile</h3>
      {profile.note && <p class="muted">{profile.note}</p>}
      {profile.timeline.length > 1 && (
        <figure class="timeline">
          <svg viewBox="0 0 300 60" preserveAspectRatio="none" role="img" aria-label="CPU and memory over time">
            <polyline class="memory" points={points((m) => m.memory_bytes / most)} />
            <polyline class="cpu" points={points((m) => m.cpu_percent / cpu)} />
          </svg>
          <figcaption class="muted">
            CPU (up to {Math.round(cpu)} %) and memory (up to {bytes(most)}) over {duration(end)}
          </figcaption>
        </figure>
      )}
      <ul class="bars">
        {profile.lines.slice(0, 12).map((l) => (
          <li key={`${l.file}:${l.line}`}>
            <button class="link" onClick={() => show(l.line)}>
              {l.line}
            </button>
            <code>{l.text.trim()}</code>
            <meter min={0} max={100} value={l.percent} aria-label={`${l.percent} % of the time`} />
            <span>{duration(l.self_ms)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Grid({ table, index }: { table: Table; index: number }) {
  const cell = (v: unknown) => (v === null ? <i class="muted">null</i> : typeof v === "object" ? JSON.stringify(v) : String(v));
  const rows = table.rows.slice(0, 200);
  // A column of numbers has its name above them, at the right.
  const numeric = table.columns.map((_, i) => rows.some((r) => r[i] !== null) && rows.every((r) => r[i] === null || typeof r[i] === "number"));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Table ${index + 1}`}>
      <table class="grid">
        <thead>
          <tr>
            {table.columns.map((c, i) => (
              <th key={i} scope="col" title={c.type} class={numeric[i] ? "number" : ""}>
                {c.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((v, j) => (
                <td key={j} class={numeric[j] ? "number" : ""}>
                  {cell(v)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {(table.truncated || table.rows.length > 200) && (
        <p class="muted">
          {Math.min(200, table.rows.length)} of {count(table.row_count, "row")} are shown.
        </p>
      )}
    </div>
  );
}

function OutputFileRow({ id, file }: { id: string; file: OutputFile }) {
  const [picture, setPicture] = useState("");
  const path = `/v1/runs/${id}/files/${file.name.split("/").map(encodeURIComponent).join("/")}`;
  const type = imageType(file.name);
  useEffect(() => {
    if (!type || file.status !== "ok") return;
    let url = "";
    blobUrl(path, type).then((made) => setPicture((url = made)), () => {});
    return () => URL.revokeObjectURL(url);
  }, [path]);
  const download = () =>
    blobUrl(path, "application/octet-stream").then(
      (url) => save(url, file.name),
      (e) => toast(String(e.message ?? e), "bad"),
    );
  return (
    <li>
      <code>{file.name}</code>{" "}
      {file.status === "ok" ? (
        <>
          <span class="muted">{bytes(file.size)}</span>{" "}
          <button class="link" onClick={download}>
            Download
          </button>
          {picture && <img class="picture" src={picture} alt={`Image ${file.name}`} />}
        </>
      ) : (
        <span class="muted">not fetched: {file.status.replaceAll("_", " ")}</span>
      )}
    </li>
  );
}

function Connections({ network }: { network: NonNullable<Result["network"]> }) {
  return (
    <section aria-label="Network">
      <h3>
        Network <span class="muted">{count(network.connections, "connection")}, {network.denied} refused</span>
      </h3>
      <ul class="plain-list">
        {network.log.slice(0, 50).map((c, i) => (
          <li key={i}>
            <code>
              {c.host ?? c.address}
              {c.port ? `:${c.port}` : ""}
            </code>{" "}
            {c.outcome.replaceAll("_", " ")} <span class="muted">{bytes(c.bytes_in)} in, {bytes(c.bytes_out)} out</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function ResultView(props: {
  result: Result;
  fix: Fix;
  show: (line: number) => void;
  inEditor: (file: string | null) => boolean;
}) {
  const { result: r } = props;
  const [text, tone] = ending(r.state, r.verdict);
  if (!r.usage)
    return (
      <section class="result" aria-label="Result">
        <p class="verdict">
          <Chip tone={tone}>{text}</Chip>
        </p>
        <p>{r.error ?? "There is no result of this run."}</p>
      </section>
    );
  return (
    <section class="result" aria-label="Result">
      <p class="verdict">
        <Chip tone={tone}>{text}</Chip>
        {r.limits_hit.length > 0 && <span class="muted">reached: {r.limits_hit.join(", ")}</span>}
        {(r.stdout_truncated || r.stderr_truncated) && <span class="muted">output was cut by its limit</span>}
      </p>
      {r.error && <p>{r.error}</p>}
      {r.diagnosis && <Cause d={r.diagnosis} fix={props.fix} show={props.show} inEditor={props.inEditor} />}
      {r.displays?.map((d, i) => <Rich key={i} display={d} />)}
      {r.tables?.map((t, i) => <Grid key={i} table={t} index={i} />)}
      {r.files.length > 0 && (
        <section aria-label="Files">
          <h3>Files</h3>
          <ul class="plain-list">
            {r.files.map((f) => (
              <OutputFileRow key={f.name} id={r.id} file={f} />
            ))}
          </ul>
        </section>
      )}
      {r.network && <Connections network={r.network} />}
      {r.profile && <Bars profile={r.profile} show={props.show} />}
      {r.compile?.stderr && r.verdict !== "compile_error" && (
        <details>
          <summary>Output of the compiler</summary>
          <pre class="block" tabIndex={0}>{r.compile.stderr}</pre>
        </details>
      )}
      <Facts result={r} />
      <details class="layers">
        <summary>Isolation in detail</summary>
        <p>{r.isolation.layers.join(" · ")}</p>
        {r.isolation.unenforced.length > 0 && (
          <p class="warn-text">Not enforced on this machine: {r.isolation.unenforced.join(", ")}</p>
        )}
      </details>
    </section>
  );
}
