// The service at this moment, and the sum of its runs.
import { useEffect, useState } from "preact/hooks";
import { get } from "../kit/api";
import { bytes, count, duration, ending } from "../kit/format";
import { followFeed } from "../kit/hub";
import { Chip, Empty, Loading, Problem } from "../kit/parts";

interface Pool {
  zygote: string;
  why: string | null;
  ready: number;
  target: number;
  starts: { warm: number; hatched: number; cold: number };
}
interface Stats {
  runs: number;
  verdicts: Record<string, number>;
  languages: Record<string, number>;
  rows: { language: string; verdict: string; runs: number; wall_ms_mean: number; wall_ms_max: number; cpu_ms_mean: number; memory_peak_max_bytes: number }[];
  now: { running: number; queued: number; waiting: number };
  since_start: { accepted: number; refused: number };
  uptime_s: number;
  pools: Record<string, Pool>;
  memory_pressure: boolean;
}
interface Sample {
  time_ms: number;
  now: { running: number; queued: number; waiting: number; sessions: number };
  since_start: { finished: number; started: number; start_ms: number };
  memory_bytes: number;
  pools: Record<string, Pool>;
  memory_pressure: boolean;
}
const KEPT = 90;

const short = (n: number) => (n >= 10 ? Math.round(n).toLocaleString("en") : n.toFixed(n % 1 ? 1 : 0));

function Plot({ name, values, unit }: { name: string; values: number[]; unit: string }) {
  const most = Math.max(0, ...values);
  const points = values.map((v, i) => `${(((i + KEPT - values.length) / (KEPT - 1)) * 300).toFixed(1)},${(58 - (v / (most || 1)) * 54).toFixed(1)}`);
  const last = values.at(-1) ?? 0;
  return (
    <figure class="card plot">
      <figcaption>
        <span class="muted">{name}</span> <span class="muted peak">{most > 0 && `peak ${short(most)}`}</span> <b>{short(last)}</b> <span class="muted">{unit}</span>
      </figcaption>
      <svg viewBox="0 0 300 60" preserveAspectRatio="none" role="img" aria-label={`${name} over the last minutes, now ${last.toFixed(1)} ${unit}`}>
        {values.length > 1 && (
          <>
            <polygon points={`${points[0].split(",")[0]},60 ${points.join(" ")} 300,60`} />
            <polyline points={points.join(" ")} />
          </>
        )}
      </svg>
    </figure>
  );
}

export function StatsView(_: { parts: string[] }) {
  const [stats, setStats] = useState<Stats | null>(null);
  const [samples, setSamples] = useState<Sample[]>([]);
  const [error, setError] = useState<unknown>(null);
  // Counts come once a second over the one stream; the sums of the history are read now and then.
  useEffect(() => {
    const stop = new AbortController();
    const look = () =>
      get<Stats>("/v1/stats", { signal: stop.signal }).then(
        (s) => (setStats(s), setError(null)),
        (e) => !stop.signal.aborted && setError(e),
      );
    void look();
    const timer = setInterval(look, 10000);
    const leave = followFeed("stats", (e) => {
      if (e.event === "stats") setSamples((old) => [...old, e as unknown as Sample].slice(-KEPT - 1));
    });
    return () => (leave(), clearInterval(timer), stop.abort());
  }, []);
  const between = (of: (a: Sample, b: Sample) => number) => samples.slice(1).map((b, i) => of(samples[i], b));
  const rate = between((a, b) => Math.max(0, (b.since_start.finished - a.since_start.finished) / ((b.time_ms - a.time_ms) / 1000)));
  let known = 0; // between two runs the last time stands
  const latency = between((a, b) => {
    const n = b.since_start.started - a.since_start.started;
    return n > 0 ? (known = (b.since_start.start_ms - a.since_start.start_ms) / n) : known;
  });
  const last = samples.at(-1);
  const ready = (s: Sample) => Object.values(s.pools).reduce((sum, p) => sum + p.ready, 0);
  return (
    <>
      <div class="page-head">
        <h1>Statistics</h1>
        {stats && <span class="muted">up for {duration(stats.uptime_s * 1000)}, {count(stats.runs, "run")} in all</span>}
      </div>
      {error != null && <Problem error={error} />}
      {!stats && error == null && <Loading what="the statistics" />}
      {stats && (
        <>
          <div class="plots">
            <Plot name="Runs" values={rate} unit="a second" />
            <Plot name="From request to start" values={latency} unit="ms" />
            <Plot name="Running" values={samples.map((s) => s.now.running)} unit="now" />
            <Plot name="Queued" values={samples.map((s) => s.now.queued)} unit="now" />
            <Plot name="Interpreters that wait" values={samples.map(ready)} unit="now" />
            <Plot name="Memory promised" values={samples.map((s) => s.memory_bytes / 1048576)} unit="MiB" />
          </div>
          {(last ?? stats).memory_pressure && <Problem error={new Error("Memory is short, so no interpreter waits: starts are slower.")} />}
          <h2 class="section">Runs by language and end</h2>
          {stats.rows.length === 0 ? (
            <Empty title="Nothing has run yet">
              <a class="button primary" href="#/run">
                Run a program
              </a>
            </Empty>
          ) : (
            <div class="card scroll" tabIndex={0} role="region" aria-label="Runs by language and end">
              <table class="grid">
                <thead>
                  <tr>
                    <th scope="col">Language</th>
                    <th scope="col">End</th>
                    <th scope="col" class="number">Runs</th>
                    <th scope="col" class="number">Mean time</th>
                    <th scope="col" class="number">Longest</th>
                    <th scope="col" class="number">Mean CPU</th>
                    <th scope="col" class="number">Most memory</th>
                  </tr>
                </thead>
                <tbody>
                  {stats.rows.map((r) => (
                    <tr key={r.language + r.verdict}>
                      <th scope="row">{r.language}</th>
                      <td>
                        <Chip tone={ending("finished", r.verdict)[1]}>{ending("finished", r.verdict)[0]}</Chip>
                      </td>
                      <td class="number">{r.runs.toLocaleString("en")}</td>
                      <td class="number">{duration(r.wall_ms_mean)}</td>
                      <td class="number">{duration(r.wall_ms_max)}</td>
                      <td class="number">{duration(r.cpu_ms_mean)}</td>
                      <td class="number">{bytes(r.memory_peak_max_bytes)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
          <h2 class="section">Interpreters that wait</h2>
          <div class="card scroll" tabIndex={0} role="region" aria-label="Interpreters that wait">
            <table class="grid">
              <thead>
                <tr>
                  <th scope="col">Kind</th>
                  <th scope="col">State</th>
                  <th scope="col" class="number">Ready</th>
                  <th scope="col" class="number">Wanted</th>
                  <th scope="col" class="number">Warm starts</th>
                  <th scope="col" class="number">Hatched</th>
                </tr>
              </thead>
              <tbody>
                {Object.entries((last ?? stats).pools).map(([kind, p]) => (
                  <tr key={kind}>
                    <th scope="row">{kind}</th>
                    <td>
                      <Chip tone={p.zygote === "up" ? "good" : p.zygote === "failed" ? "bad" : "idle"}>{p.zygote}</Chip> {p.why ?? ""}
                    </td>
                    <td class="number">{p.ready}</td>
                    <td class="number">{p.target}</td>
                    <td class="number">{p.starts.warm}</td>
                    <td class="number">{p.starts.hatched}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </>
  );
}
