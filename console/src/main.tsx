// The frame of the console: navigation, the view of the address, key, palette, messages.
import { type ComponentChildren, type ComponentType, render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { forgetKey, giveKey, hasKey, keyWanted, link } from "./kit/api";
import { Dialog } from "./kit/dialog";
import { Palette, paletteOpen, useCommands } from "./kit/palette";
import { Loading, Problem } from "./kit/parts";
import { go, route } from "./kit/router";
import { Says } from "./kit/say";
import { useStore } from "./kit/store";
import { nextTheme, theme } from "./kit/theme";
import { pending } from "./kit/pending";
import { RunView } from "./views/run";

interface View {
  path: string;
  name: string;
  load?: () => Promise<ComponentType<{ parts: string[] }>>;
}

// A further view is a row here and a file of its own under views/.
const VIEWS: View[] = [
  { path: "run", name: "Run" },
  { path: "sessions", name: "Notebooks", load: async () => (await import("./views/notebook")).NotebookView },
  { path: "history", name: "History", load: async () => (await import("./views/history")).HistoryView },
  { path: "approvals", name: "Approvals", load: async () => (await import("./views/approvals")).ApprovalsView },
  { path: "batches", name: "Batches", load: async () => (await import("./views/batches")).BatchesView },
  { path: "artifacts", name: "Artifacts", load: async () => (await import("./views/artifacts")).ArtifactsView },
  { path: "languages", name: "Languages", load: async () => (await import("./views/languages")).LanguagesView },
  { path: "stats", name: "Statistics", load: async () => (await import("./views/stats")).StatsView },
  { path: "audit", name: "Audit", load: async () => (await import("./views/audit")).AuditView },
  { path: "keys", name: "Keys", load: async () => (await import("./views/keys")).KeysView },
];

function Lazy({ view, parts }: { view: View; parts: string[] }) {
  const [found, set] = useState<{ view?: ComponentType<{ parts: string[] }>; error?: unknown }>({});
  useEffect(() => {
    let here = true;
    set({});
    view.load!().then(
      (component) => here && set({ view: component }),
      () => here && set({ error: new Error("This part of the console did not load. Load the page again.") }),
    );
    return () => void (here = false);
  }, [view]);
  const Shown = found.view;
  return (
    <main id="main" class="page">
      {Shown ? <Shown parts={parts} /> : found.error ? <Problem error={found.error} /> : <Loading what={view.name} />}
    </main>
  );
}

function KeyDialog({ why }: { why: string }) {
  const [text, setText] = useState("");
  const [keep, setKeep] = useState(true);
  return (
    <Dialog title="This service needs a key" close={() => {}}>
      <form
        class="stack"
        onSubmit={(e) => {
          e.preventDefault();
          if (text.trim()) giveKey(text, keep);
        }}
      >
        {why && (
          <p class="warn-text" role="alert">
            {why}
          </p>
        )}
        <p>
          The operator makes one with <code>belljar keys add NAME --scopes run,read</code>.
        </p>
        <label class="stack">
          <span>API key</span>
          <input class="field mono" type="password" autocomplete="off" value={text} autoFocus
            onInput={(e) => setText(e.currentTarget.value)} />
        </label>
        <label class="check">
          <input type="checkbox" checked={keep} onChange={(e) => setKeep(e.currentTarget.checked)} />
          <span>Keep it in this tab until it is closed</span>
        </label>
        <button class="button primary" type="submit">
          Use this key
        </button>
      </form>
    </Dialog>
  );
}

function Nav({ now, children }: { now: string; children: ComponentChildren }) {
  const waiting = useStore(pending).length;
  const row = useRef<HTMLElement>(null);
  // On a narrow screen the row of views scrolls; the current one is in sight.
  useEffect(() => row.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }), [now]);
  return (
    <header class="top">
      <a class="skip" href="#main" onClick={(e) => (e.preventDefault(), document.getElementById("main")?.querySelector<HTMLElement>("button, select, a, input")?.focus())}>
        Skip to the content
      </a>
      <a class="brand" href="#/run" aria-label="Belljar: run a program">
        <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true">
          <path d="M6 26V15a10 10 0 0 1 20 0v11z" class="glass" />
          <path d="M3 27h26" class="base" />
          <circle cx="16" cy="3.4" r="1.8" class="knob" />
        </svg>
        <span>Belljar</span>
      </a>
      <nav aria-label="Views" ref={row}>
        {VIEWS.map((v) => (
          <a key={v.path} href={`#/${v.path}`} aria-current={now === v.path ? "page" : undefined}>
            {v.name}
            {v.path === "approvals" && waiting > 0 && (
              <span class="badge" aria-label={`${waiting} waiting`}>
                {waiting}
              </span>
            )}
          </a>
        ))}
      </nav>
      {children}
    </header>
  );
}

const LINKS = {
  off: "The service does not answer. Trying again; your text is kept.",
  slow: "The service takes long to answer. Waiting; your text is kept.",
};
const THEMES = { system: "◐", light: "☀", dark: "☾" };

function App() {
  const parts = useStore(route);
  const wanted = useStore(keyWanted);
  const state = useStore(link);
  const shade = useStore(theme);
  const path = parts[0] === "runs" || parts[0] === "" ? "run" : parts[0];
  const view = VIEWS.find((v) => v.path === path);
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
        e.preventDefault();
        paletteOpen.value = !paletteOpen.value;
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => void (document.title = `${view?.name ?? "Not found"} · Belljar`), [view]);
  useCommands(() => [
    ...VIEWS.map((v) => ({ name: `Go to ${v.name}`, run: () => void go(v.path) })),
    { name: "Change the theme (system, light, dark)", run: nextTheme },
    ...(hasKey() ? [{ name: "Forget the key", run: () => (forgetKey(), location.reload()) }] : []),
  ]);
  return (
    <>
      <Nav now={path}>
        <button class="button small quiet" onClick={() => (paletteOpen.value = true)}>
          Commands <kbd>Ctrl K</kbd>
        </button>
        <button class="icon" onClick={nextTheme} aria-label={`Theme: ${shade}. Change it.`} title={`Theme: ${shade}`}>
          <span aria-hidden="true">{THEMES[shade]}</span>
        </button>
      </Nav>
      {state !== "on" && (
        <p class="offline" role="status">
          <span class="spinner" aria-hidden="true" /> {LINKS[state]}
        </p>
      )}
      {view ? (
        view.load ? <Lazy view={view} parts={parts.slice(1)} /> : <RunView id={parts[0] === "runs" ? (parts[1] ?? "") : ""} />
      ) : (
        <main id="main" class="page">
          <div class="empty">
            <h1>There is no such view</h1>
            <p>
              <a href="#/run">Run a program</a> instead.
            </p>
          </div>
        </main>
      )}
      <Palette />
      {wanted && <KeyDialog why={wanted.why} />}
      <Says />
    </>
  );
}

const app = document.getElementById("app")!;
app.replaceChildren();
render(<App />, app);
