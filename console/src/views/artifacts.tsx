// Texts that clients keep in the service, with every version: read, compare, run, copy.
import { useState } from "preact/hooks";
import { Difference } from "./history/compare";
import { get, json, save, words } from "../kit/api";
import { ago, duration, moment } from "../kit/format";
import { Chip, Choice, Empty, Loading, Problem, useLoad } from "../kit/parts";
import { go } from "../kit/router";
import { toast } from "../kit/say";

interface Row {
  id: string;
  conversation_id: string | null;
  title: string;
  language: string;
  artifact_type: string;
  version: number;
  parent_artifact_id: string | null;
  created_at: string | null;
  updated_at: string | null;
}
interface Artifact extends Row {
  content: string;
}
interface Execution {
  success: boolean;
  output: string;
  error: string | null;
  execution_time: number;
  return_code: number;
  id?: string;
}
const path = (id: string, rest = "") => `/api/artifacts/${encodeURIComponent(id)}${rest}`;

const EXAMPLE = {
  title: "Hello", language: "python", content: "print('Hello from an artifact')\n", conversation_id: "console",
};

function List() {
  const [pages, setPages] = useState<{ artifacts: Row[]; next_cursor: string | null }[]>([]);
  const first = useLoad("artifacts", (signal) => get<{ artifacts: Row[]; next_cursor: string | null }>("/v1/artifacts", { signal }));
  const all = first.value ? [first.value, ...pages] : [];
  const rows = all.flatMap((p) => p.artifacts);
  const cursor = all.at(-1)?.next_cursor;
  const make = () =>
    json<Artifact>("POST", "/api/artifacts/create", { body: EXAMPLE }).then((a) => go("artifacts", a.id), (e) => toast(words(e), "bad"));
  return (
    <>
      <div class="page-head">
        <h1>Artifacts</h1>
        <span class="grow" />
        <button class="button" onClick={() => (setPages([]), first.again())}>Refresh</button>
      </div>
      {first.error != null && <Problem error={first.error} retry={first.again} />}
      {!first.value && first.error == null && <Loading what="the artifacts" />}
      {first.value && rows.length === 0 && (
        <Empty title="No artifact yet">
          <p>
            An artifact is a program or a page that an assistant wrote. Clients keep it here with{" "}
            <code>POST /api/artifacts/create</code>; each change is a new version.
          </p>
          <button class="button primary" onClick={() => void make()}>Make an example</button>
        </Empty>
      )}
      {rows.length > 0 && (
        <div class="card scroll" tabIndex={0} role="region" aria-label="Artifacts">
          <table class="grid">
            <thead>
              <tr>
                <th scope="col">Title</th>
                <th scope="col">Language</th>
                <th scope="col">Type</th>
                <th scope="col" class="number">Version</th>
                <th scope="col">Changed</th>
                <th scope="col">Conversation</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((a) => (
                <tr key={a.id}>
                  <td><a href={`#/artifacts/${encodeURIComponent(a.id)}`}>{a.title}</a></td>
                  <td>{a.language}</td>
                  <td>{a.artifact_type}</td>
                  <td class="number">{a.version}</td>
                  <td title={moment(a.updated_at)}>{ago(a.updated_at)}</td>
                  <td>{a.conversation_id ?? <span class="muted">–</span>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {cursor && (
        <p class="more">
          <button class="button" onClick={() => get<any>(`/v1/artifacts?cursor=${cursor}`).then((p) => setPages([...pages, p]), (e) => toast(words(e), "bad"))}>
            Older artifacts
          </button>
        </p>
      )}
    </>
  );
}

function Ran({ made }: { made: Execution }) {
  return (
    <section class="card pad" aria-label="Result" role="status">
      <p>
        <Chip tone={made.success ? "good" : "bad"}>{made.success ? "Finished" : "It failed"}</Chip>{" "}
        <span class="muted">
          {duration(made.execution_time * 1000)}, return code {made.return_code}
        </span>{" "}
        {made.id && <a href={`#/runs/${made.id}`}>Open the run</a>}
      </p>
      {made.output && <pre class="block" tabIndex={0}>{made.output}</pre>}
      {made.error && <pre class="block err-text" tabIndex={0}>{made.error}</pre>}
    </section>
  );
}

function One({ id }: { id: string }) {
  const loaded = useLoad(id, (signal) => get<Artifact[]>(path(id, "/versions"), { signal }));
  const [left, setLeft] = useState<number | null>(null);
  const [right, setRight] = useState<number | null>(null);
  const [mode, setMode] = useState<"text" | "changes">("text");
  const [made, setMade] = useState<Execution | null>(null);
  const [busy, setBusy] = useState(false);
  const back = <a class="button" href="#/artifacts">All artifacts</a>;
  if (loaded.error) return <><div class="page-head"><h1>Artifact</h1><span class="grow" />{back}</div><Problem error={loaded.error} retry={loaded.again} /></>;
  if (!loaded.value) return <Loading what="the artifact" />;
  const versions = loaded.value;
  const last = versions.length - 1;
  const b = versions[right ?? last];
  const a = versions[left ?? Math.max(0, versions.indexOf(b) - 1)];
  const run = async () => {
    setBusy(true);
    try {
      setMade((await json<{ execution: Execution }>("POST", path(id, "/execute"), { body: {} })).execution);
    } catch (e) {
      toast(words(e), "bad");
    }
    setBusy(false);
  };
  const fork = () => json<Artifact>("POST", path(id, "/fork"), {}).then((f) => go("artifacts", f.id), (e) => toast(words(e), "bad"));
  const download = () => {
    const url = URL.createObjectURL(new Blob([b.content], { type: "text/plain" }));
    get<{ filename: string }>(path(id, "/download"), { accept: "application/json" }).then((f) => save(url, f.filename), () => save(url, "artifact.txt"));
  };
  const pick = (label: string, value: number, set: (n: number) => void) => (
    <label>
      <span class="sr-only">{label}</span>
      <select class="field" value={value} onChange={(e) => set(Number(e.currentTarget.value))}>
        {versions.map((v, i) => (
          <option key={v.version} value={i}>
            version {v.version}, {ago(v.created_at)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <>
      <div class="page-head">
        <h1>{b.title}</h1>
        <span class="muted">{b.language}, {b.artifact_type}</span>
        <span class="grow" />
        {b.artifact_type === "code" && (
          <button class="button primary" disabled={busy} onClick={() => void run()}>
            {busy && <span class="spinner" aria-hidden="true" />} ▶ Execute
          </button>
        )}
        <button class="button" onClick={fork}>Copy</button>
        <button class="button" onClick={download}>Download</button>
        {back}
      </div>
      {made && <Ran made={made} />}
      <div class="page-head">
        <Choice label="Shown" value={mode} choose={setMode} options={[["text", "Text"], ["changes", "Changes"]]} />
        {mode === "changes" && pick("Compared with", versions.indexOf(a), setLeft)}
        {pick("Version", versions.indexOf(b), setRight)}
      </div>
      <div class="card">
        {mode === "text" ? <pre class="block plain" tabIndex={0} role="region" aria-label="Text of the artifact">{b.content}</pre>
          : <Difference a={a.content} b={b.content} language={b.language} />}
      </div>
    </>
  );
}

export function ArtifactsView({ parts }: { parts: string[] }) {
  return parts[0] ? <One key={parts[0]} id={parts[0]} /> : <List />;
}
