// All sessions: open, wake, end, make.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, json, words } from "../../kit/api";
import { Dialog } from "../../kit/dialog";
import { ago, bytes, moment } from "../../kit/format";
import { followFeed } from "../../kit/hub";
import { useCommands } from "../../kit/palette";
import { Chip, Empty, Loading, Problem, useLoad } from "../../kit/parts";
import { go } from "../../kit/router";
import { toast } from "../../kit/say";
import type { Language } from "../../kit/types";
import { LANGUAGES, path, type Session, stateOf, titleOf } from "./api";
import { importNotebook } from "./ipynb";

function useInstalled(): string[] {
  const [names, set] = useState(["python"]);
  useEffect(() => {
    get<Language[]>("/v1/languages").then(
      (all) => set(LANGUAGES.filter((l) => all.some((one) => one.name === l && one.installed))),
      () => {},
    );
  }, []);
  return names;
}

function Create({ close }: { close: () => void }) {
  const languages = useInstalled();
  const [language, setLanguage] = useState("python");
  const [name, setName] = useState("");
  const [undo, setUndo] = useState(true);
  const [sleep, setSleep] = useState(true);
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const make = async () => {
    setBusy(true);
    try {
      const body = { language, undo: undo ? 5 : 0, idle: sleep ? "sleep" : "end", ...(name.trim() && { name: name.trim() }) };
      const made = await json<Session>("POST", "/v1/sessions", { body });
      close();
      go("sessions", made.id);
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title="New notebook" close={close}>
      <form onSubmit={(e) => (e.preventDefault(), void make())}>
        <label class="stack">
          <span>Language</span>
          <select class="field" value={language} onChange={(e) => setLanguage(e.currentTarget.value)} autoFocus>
            {languages.map((l) => (
              <option key={l}>{l}</option>
            ))}
          </select>
        </label>
        <label class="stack">
          <span>Name (optional)</span>
          <input class="field" value={name} maxLength={60} autocomplete="off" onInput={(e) => setName(e.currentTarget.value)} />
        </label>
        <label class="check">
          <input type="checkbox" checked={undo} onChange={(e) => setUndo(e.currentTarget.checked)} />
          <span>Undo: keep the state before each of the last 5 cells</span>
        </label>
        <label class="check">
          <input type="checkbox" checked={sleep} onChange={(e) => setSleep(e.currentTarget.checked)} />
          <span>Sleep on the disk when nobody uses it, instead of ending</span>
        </label>
        {problem != null && <Problem error={problem} />}
        <button class="button primary" type="submit" disabled={busy}>
          {busy && <span class="spinner" aria-hidden="true" />} Start
        </button>
      </form>
    </Dialog>
  );
}

export function EndDialog({ session, close }: { session: Session; close: (ended: boolean) => void }) {
  const end = () =>
    json("DELETE", path(session.id)).then(
      () => close(true),
      (e) => (toast(words(e), "bad"), close(false)),
    );
  return (
    <Dialog title={`End ${titleOf(session)}?`} close={() => close(false)}>
      <p>Its variables, files and checkpoints are removed. The cells that ran stay in the history.</p>
      <p class="nb-actions">
        <button class="button" autoFocus onClick={() => close(false)}>
          Keep it
        </button>
        <button class="button danger" onClick={() => void end()}>
          End the session
        </button>
      </p>
    </Dialog>
  );
}

function Row({ s, again, end }: { s: Session; again: () => void; end: () => void }) {
  const [text, tone] = stateOf(s.state);
  const [waking, setWaking] = useState(false);
  const wake = async () => {
    setWaking(true);
    await json("POST", path(s.id, "/wake"), { body: {} }).catch((e) => toast(words(e), "bad"));
    setWaking(false);
    again();
  };
  return (
    <tr>
      <th scope="row">
        <a href={`#/sessions/${s.id}`}>{titleOf(s)}</a>
      </th>
      <td>
        <Chip tone={waking ? "busy" : tone}>{waking ? "Wakes" : text}</Chip>
      </td>
      <td>{s.language}</td>
      <td class="number">{s.cells}</td>
      <td class="number">{s.state === "sleeping" ? "on the disk" : bytes(s.memory_bytes)}</td>
      <td title={moment(s.created_at)}>{ago(s.created_at)}</td>
      <td class="row-actions">
        {s.state === "sleeping" && (
          <button class="button small" disabled={waking} onClick={() => void wake()}>
            Wake
          </button>
        )}
        <button class="button small" aria-label={`End ${titleOf(s)}`} onClick={end}>
          End
        </button>
      </td>
    </tr>
  );
}

export function SessionList() {
  const list = useLoad("sessions", (signal) => get<{ sessions: Session[] }>("/v1/sessions", { signal }));
  const [making, setMaking] = useState(false);
  const [ending, setEnding] = useState<Session | null>(null);
  const file = useRef<HTMLInputElement>(null);
  useEffect(() => {
    return followFeed("sessions", () => list.again());
  }, []);
  const bring = (f?: File) => {
    if (f) importNotebook(f).then((s) => go("sessions", s.id), (e) => toast(words(e), "bad"));
  };
  useCommands(() => [
    { name: "New notebook", run: () => setMaking(true) },
    { name: "Import a notebook (.ipynb)", run: () => file.current?.click() },
  ]);
  const sessions = list.value?.sessions;
  return (
    <div onDragOver={(e) => e.preventDefault()} onDrop={(e) => (e.preventDefault(), bring(e.dataTransfer?.files[0]))}>
      <div class="page-head">
        <h1>Notebooks</h1>
        <span class="grow" />
        <input ref={file} type="file" accept=".ipynb" hidden aria-label="Notebook file"
          onChange={(e) => (bring(e.currentTarget.files?.[0]), (e.currentTarget.value = ""))} />
        <button class="button" onClick={() => file.current!.click()}>
          Import .ipynb
        </button>
        <button class="button primary" onClick={() => setMaking(true)}>
          New notebook
        </button>
      </div>
      {list.error != null && !sessions && <Problem error={list.error} retry={list.again} />}
      {!sessions && list.error == null && <Loading what="the sessions" />}
      {sessions?.length === 0 && (
        <Empty title="No session is alive">
          <p>
            A notebook is a session: its variables and files stay from cell to cell. It can be copied at any point, go back to
            a checkpoint, and sleep on the disk.
          </p>
          <button class="button primary" onClick={() => setMaking(true)}>
            Start one in Python
          </button>
        </Empty>
      )}
      {sessions && sessions.length > 0 && (
        <div class="scroll panel" tabIndex={0} role="region" aria-label="Sessions">
          <table class="grid">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">State</th>
                <th scope="col">Language</th>
                <th scope="col" class="number">Cells</th>
                <th scope="col" class="number">Memory</th>
                <th scope="col">Started</th>
                <th scope="col">
                  <span class="sr-only">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {sessions.map((s) => (
                <Row key={s.id} s={s} again={list.again} end={() => setEnding(s)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {making && <Create close={() => setMaking(false)} />}
      {ending && <EndDialog session={ending} close={(done) => (setEnding(null), done && list.again())} />}
    </div>
  );
}
