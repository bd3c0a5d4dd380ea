// Two runs side by side: program, output and cost, each named by its language, end and time.
import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../../kit/api";
import { ago, bytes, duration } from "../../kit/format";
import { Choice, Ending, Loading, Problem, useLoad } from "../../kit/parts";
import type { Result, RunRequest } from "../../kit/types";

interface Side {
  id: string;
  result: Result & { stdout?: string; stderr?: string };
  request: RunRequest;
}

async function load(id: string, signal: AbortSignal): Promise<Side> {
  const [result, request] = await Promise.all([
    get<Side["result"]>(`/v1/runs/${id}`, { signal }),
    get<RunRequest>(`/v1/runs/${id}/request`, { signal }),
  ]);
  return { id, result, request };
}

type What = "code" | "stdout" | "stderr";

export function Difference({ a, b, language }: { a: string; b: string; language: string }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let destroy = () => {};
    let here = true;
    void import("../../editor/merge").then(({ sideBySide }) => {
      if (here) destroy = sideBySide(host.current!, a, b, language);
    });
    return () => {
      here = false;
      destroy();
    };
  }, [a, b, language]);
  return <div class="merge" ref={host} />;
}

export function CompareView({ a, b }: { a: string; b: string }) {
  const [what, setWhat] = useState<What>("code");
  const loaded = useLoad(`${a} ${b}`, (signal) => Promise.all([load(a, signal), load(b, signal)]));
  const head = (
    <div class="page-head">
      <h1>Compare two runs</h1>
      <span class="grow" />
      <a class="button" href="#/history">
        Back to the history
      </a>
    </div>
  );
  if (loaded.error) return <>{head}<Problem error={loaded.error} retry={loaded.again} /></>;
  if (!loaded.value) return <>{head}<Loading what="both runs" /></>;
  const [x, y] = loaded.value;
  const text = (s: Side) => (what === "code" ? (s.request.code ?? "") : (s.result[what] ?? ""));
  const rows: [string, (s: Side) => string][] = [
    ["Language", (s) => `${s.result.language} ${s.result.version ?? ""}`],
    ["Return code", (s) => String(s.result.exit_code ?? "–")],
    ["Time", (s) => duration(s.result.usage?.wall_ms)],
    ["CPU", (s) => duration(s.result.usage?.cpu_ms)],
    ["Memory", (s) => bytes(s.result.usage?.memory_peak_bytes)],
    ["Start", (s) => s.result.start ?? "–"],
    ["Output", (s) => bytes((s.result.stdout_bytes ?? 0) + (s.result.stderr_bytes ?? 0))],
    ["Arguments", (s) => JSON.stringify(s.request.request?.args ?? [])],
    ["Limits", (s) => JSON.stringify(s.request.request?.limits ?? {})],
  ];
  const side = (s: Side, name: string) => (
    <th scope="col">
      <span class="muted">{name}</span> <a href={`#/runs/${s.id}`} class="mono">{s.id.slice(0, 16)}</a>{" "}
      <Ending state={s.result.state} verdict={s.result.verdict} />{" "}
      <span class="muted">{ago(s.result.timings?.queued_at ?? null)}</span>
    </th>
  );
  return (
    <>
      {head}
      <div class="card scroll" tabIndex={0} role="region" aria-label="Facts of both runs">
        <table class="grid">
          <thead>
            <tr>
              <td />
              {side(x, "Left:")}
              {side(y, "Right:")}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, of]) => (
              <tr key={name} class={of(x) === of(y) ? "" : "differs"}>
                <th scope="row">{name}</th>
                <td>{of(x)}</td>
                <td>{of(y)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="page-head">
        <Choice label="Compared text" value={what} choose={setWhat}
          options={[["code", "Program"], ["stdout", "stdout"], ["stderr", "stderr"]]} />
        <span class="muted">{text(x) === text(y) ? "Both are the same." : ""}</span>
      </div>
      <div class="card">
        <Difference a={text(x)} b={text(y)} language={what === "code" ? x.result.language : ""} />
      </div>
    </>
  );
}
