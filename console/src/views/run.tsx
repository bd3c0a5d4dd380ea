// Write a program, run it in a jar, see everything that it does.
import { useEffect, useRef, useState } from "preact/hooks";
import { Editor } from "../editor/editor";
import type { Fix } from "../editor/fix";
import { guess } from "../editor/languages";
import { blobUrl, get, save, words } from "../kit/api";
import { count } from "../kit/format";
import type { Shown } from "../kit/lines";
import { Output, type OutputHandle } from "../kit/output";
import { useCommands } from "../kit/palette";
import { Chip, Choice, Problem } from "../kit/parts";
import { rename, route } from "../kit/router";
import { copy, toast } from "../kit/say";
import * as snippets from "../kit/snippets";
import { useStore } from "../kit/store";
import type { Language, RunRequest } from "../kit/types";
import { type Draft, earlierDrafts, EXAMPLE, fromRequest, loadDraft, rememberDraft, saveDraft, toRequest } from "./run/draft";
import { addFiles, Inputs } from "./run/inputs";
import { live } from "./run/live";
import { Older } from "./run/older";
import { ResultView } from "./run/result";

let languagesOnce: Promise<Language[]> | null = null;
function useLanguages(): Language[] {
  const [list, set] = useState<Language[]>([]);
  useEffect(() => {
    languagesOnce ??= get<Language[]>("/v1/languages");
    languagesOnce.then(set, () => (languagesOnce = null));
  }, []);
  return list;
}

let draft: Draft = loadDraft();
let inEditor = ""; // the run whose program is in the editor
addEventListener("pagehide", () => saveDraft(draft));

function useDraft(): [Draft, (part: Partial<Draft>) => void] {
  const [, again] = useState(0);
  const timer = useRef(0);
  const change = (part: Partial<Draft>) => {
    draft = { ...draft, ...part };
    again((n) => n + 1);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => saveDraft(draft), 200) as unknown as number;
  };
  return [draft, change];
}

function Stdin() {
  const [text, setText] = useState("");
  const send = async (eof: boolean) => {
    const data = eof ? text : `${text}\n`;
    if (await live.type(data, eof)) setText("");
  };
  return (
    <form class="stdin" onSubmit={(e) => (e.preventDefault(), void send(false))}>
      <label class="sr-only" for="stdin">
        Input for the program
      </label>
      <input id="stdin" class="field mono" placeholder="Type a line for the program, Enter sends it" value={text}
        autocomplete="off" onInput={(e) => setText(e.currentTarget.value)} />
      <button class="button" type="button" onClick={() => void send(true)} title="Sends the text and ends the input">
        End input
      </button>
    </form>
  );
}

const linkTo = (id: string) => `${location.origin}/console/#/runs/${id}`;

function Share({ request, id }: { request: () => unknown; id: string }) {
  const items: [string, () => void][] = [
    ["Copy as curl", () => void copy(snippets.curl(request()), "The command")],
    ["Copy as Python", () => void copy(snippets.python(request()), "The program")],
    ["Copy as TypeScript", () => void copy(snippets.typescript(request()), "The program")],
  ];
  if (id) items.unshift(["Copy link to this run", () => void copy(linkTo(id), "The link")]);
  const menu = useRef<HTMLDetailsElement>(null);
  return (
    <details class="menu" ref={menu} onKeyDown={(e) => e.key === "Escape" && (menu.current!.open = false)}>
      <summary class="button">Share</summary>
      <div class="menu-list">
        {items.map(([name, run]) => (
          <button key={name} onClick={() => (run(), (menu.current!.open = false))}>
            {name}
          </button>
        ))}
      </div>
    </details>
  );
}

const PHASES = { idle: "", sending: "Sending", waiting: "Waits for approval", queued: "Queued", running: "Running", over: "" };

function Screen(props: { fix: Fix; show: (line: number) => void; inEditor: (file: string | null) => boolean; stdin: boolean }) {
  const now = useStore(live.state);
  const [shown, setShown] = useState<Shown>("all");
  const [older, setOlder] = useState(false);
  useEffect(() => setOlder(false), [now.id]);
  const output = useRef<OutputHandle>(null) as { current: OutputHandle | null };
  const [, repaint] = useState(0);
  useEffect(() => {
    let frame = 0;
    live.onLines = () => {
      output.current?.refresh();
      frame ||= requestAnimationFrame(() => ((frame = 0), repaint((n) => n + 1)));
    };
    return () => (live.onLines = () => {});
  }, []);
  const busy = now.phase !== "idle" && now.phase !== "over";
  const lines = live.lines;
  const empty = lines.length("all") === 0;
  const download = (stream: string) =>
    blobUrl(`/v1/runs/${now.id}/${stream}`, "text/plain").then(
      (url) => save(url, `${now.id}.${stream}`),
      (e) => toast(words(e), "bad"),
    );
  return (
    <section class="screen" aria-label="Output of the run" data-phase={now.phase}>
      <div class="bar">
        <Choice label="Streams" value={shown} choose={setShown}
          options={[["all", "All"], ["stdout", "stdout"], ["stderr", "stderr"]]} />
        <span class="grow" />
        {busy && <Chip tone={now.phase === "waiting" ? "warn" : "busy"}>{PHASES[now.phase]}</Chip>}
        {now.lost && <Chip tone="warn">Reconnecting</Chip>}
        {now.id && (
          <>
            <button class="button small" onClick={() => void copy(lines.text(shown), "The output")}>
              Copy
            </button>
            <button class="button small" onClick={() => void download(shown === "stderr" ? "stderr" : "stdout")}>
              Save
            </button>
          </>
        )}
      </div>
      {lines.dropped > 0 && (
        <p class="note">
          The newest {count(lines.length("all"), "line")} are here, {count(lines.dropped, "older line")} are not.{" "}
          <button class="link" onClick={() => setOlder(true)}>
            Read older lines
          </button>
        </p>
      )}
      {older && <Older id={now.id} stream={shown === "stderr" ? "stderr" : "stdout"} close={() => setOlder(false)} />}
      {now.phase === "idle" ? (
        <div class="empty">
          <h2>Nothing has run yet</h2>
          <p>
            Press <kbd>Ctrl</kbd>+<kbd>Enter</kbd>. The program starts in a sealed jar: no network, no files of this machine,
            and bounds for time and memory.
          </p>
        </div>
      ) : (
        <div class={`output-box ${empty ? "none" : now.phase === "over" ? "over" : ""}`} style={{ "--rows": lines.length("all") }}>
          <Output lines={lines} shown={shown} handle={output} label="Output" />
          {empty && now.phase === "over" && !now.error && <p class="muted pad">The program printed nothing.</p>}
        </div>
      )}
      {busy && props.stdin && !now.stdinClosed && now.phase !== "waiting" && <Stdin />}
      {now.phase === "waiting" && (
        <p class="note warn">
          A person has to approve this run. <a href="#/approvals">Open the approvals</a>
        </p>
      )}
      {now.error != null && <Problem error={now.error} />}
      {now.result && <ResultView result={now.result} fix={props.fix} show={props.show} inEditor={props.inEditor} />}
    </section>
  );
}

export function RunView({ id }: { id: string }) {
  const [d, change] = useDraft();
  const languages = useLanguages();
  const now = useStore(live.state);
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const busy = now.phase !== "idle" && now.phase !== "over";
  const guessed = d.language || guess(d.code);

  const run = () => {
    const phase = live.state.value.phase;
    if (phase !== "idle" && phase !== "over") return;
    saveDraft(draft);
    editor.current?.marks([]);
    live.start(toRequest(draft));
  };
  const replace = (next: Draft) => {
    rememberDraft(draft);
    change(next);
    editor.current!.text = next.code;
    setLoads((n) => n + 1);
  };

  useEffect(() => {
    const keys = [
      { key: "Ctrl-Enter", mac: "Cmd-Enter", run: () => (run(), true) },
      { key: "Ctrl-.", mac: "Cmd-.", run: () => (void live.cancel(), true) },
    ];
    editor.current = new Editor(host.current!, {
      text: draft.code, label: "Program. Escape, then Tab leaves the editor.", keys, onChange: (code) => change({ code }),
    });
    live.onId = (made) => {
      inEditor = made;
      rename("runs", made);
    };
    const onKey = (e: KeyboardEvent) => {
      if (!(e.ctrlKey || e.metaKey) || e.defaultPrevented) return;
      if (e.key === "Enter") run();
      else if (e.key === ".") void live.cancel();
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", onKey);
    performance.mark("editor");
    return () => {
      removeEventListener("keydown", onKey);
      editor.current!.destroy();
    };
  }, []);

  useEffect(() => void editor.current!.language(guessed), [guessed]);

  // A link to a run shows the program of that run, and the run itself.
  useEffect(() => {
    if (!id || inEditor === id) return;
    inEditor = id;
    live.open(id);
    get<RunRequest>(`/v1/runs/${id}/request`).then(
      (r) => route.value[1] === id && replace(fromRequest(r.request ?? {}, r.code, r.language)),
      (e) => toast(words(e), "bad"),
    );
  }, [id]);

  const fix: Fix = (line, text, action, expected) => {
    if (!editor.current!.fix(line, text, action, expected))
      toast("The program was changed since that run: the faulty line is not there any more.", "bad");
  };
  /** A fault may be in one of the files; the editor has the program alone. */
  const mine = (file: string | null) => !file || !draft.files.some((f) => f.name === file || file.endsWith(`/${f.name}`));
  const result = now.result;
  const [loads, setLoads] = useState(0); // programs that came from the history
  useEffect(() => {
    const at = result?.diagnosis?.location;
    if (!result || !at?.line || !mine(at.file)) return editor.current!.marks([]);
    const best = result.diagnosis!.suggestions[0];
    editor.current!.marks([
      {
        line: at.line, column: at.column, endColumn: at.end_column,
        message: `${result.diagnosis!.message}${best ? `\n${best.text}` : ""}`, fix: best?.replacement ?? null, action: best?.action,
      },
    ]);
  }, [result, loads]);

  const request = () => toRequest(draft);
  const fresh = () => {
    live.reset();
    replace({ ...draft, code: "", files: [] });
    rename("run");
    editor.current!.view.focus();
  };
  useCommands(() => [
    { name: "Run the program", keys: "Ctrl+Enter", run },
    { name: "Cancel the run", keys: "Ctrl+.", run: () => void live.cancel() },
    { name: "New program", run: fresh },
    { name: "Show an example", run: () => (live.reset(), replace({ ...draft, code: EXAMPLE, language: "" })) },
    { name: "Copy the request as curl", run: () => void copy(snippets.curl(request()), "The command") },
    { name: "Copy the request as Python", run: () => void copy(snippets.python(request()), "The program") },
    { name: "Copy the request as TypeScript", run: () => void copy(snippets.typescript(request()), "The program") },
    ...(now.id ? [{ name: "Copy the link to this run", run: () => void copy(linkTo(now.id), "The link") }] : []),
    ...earlierDrafts().map((old) => ({
      name: `Bring back a draft: ${old.code.trim().split("\n")[0].slice(0, 60)}`, run: () => replace(old),
    })),
  ]);

  return (
    <main class="run-view" id="main"
      onDragOver={(e) => e.preventDefault()}
      onDrop={(e) => {
        if (!e.dataTransfer?.files.length) return;
        e.preventDefault();
        void addFiles(draft, e.dataTransfer.files, change);
      }}
    >
      <h1 class="sr-only">Run a program</h1>
      <section class="program" aria-label="Program">
        <div class="bar">
          <label class="sr-only" for="language">
            Language
          </label>
          <select id="language" class="field" value={d.language} onChange={(e) => change({ language: e.currentTarget.value })}>
            <option value="">Detect{d.language === "" && guessed ? ` (${guessed})` : ""}</option>
            {languages.map((l) => (
              <option key={l.name} value={l.name} disabled={!l.installed}>
                {l.name}
                {l.installed ? "" : " (not installed)"}
              </option>
            ))}
          </select>
          <span class="grow" />
          <button class="button" onClick={fresh}>
            New
          </button>
          <Share request={request} id={now.id} />
          {busy ? (
            <button class="button danger" id="cancel" onClick={() => void live.cancel()} title="Ctrl+.">
              <span class="spinner" aria-hidden="true" /> Cancel
            </button>
          ) : (
            <button class="button primary" id="run" onClick={run} title="Ctrl+Enter">
              ▶ Run
            </button>
          )}
        </div>
        <div class="editor" ref={host} />
        <Inputs draft={d} change={change} />
      </section>
      <Screen fix={fix} show={(line) => editor.current!.show(line)} inEditor={mine} stdin={d.stdinOpen} />
    </main>
  );
}

