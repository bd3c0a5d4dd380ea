// Candidates side by side in copies of the session, and one that is adopted.
import { useEffect, useRef, useState } from "preact/hooks";
import { Editor } from "../../editor/editor";
import { call, json } from "../../kit/api";
import { count, duration } from "../../kit/format";
import { Chip, Problem } from "../../kit/parts";
import { announce, toast } from "../../kit/say";
import { read } from "../../kit/stream";
import { type Cell, path, type Session, type Tone } from "./api";
import { type Book, CellRun } from "./book";
import { Outputs } from "./outputs";
import { useStore } from "../../kit/store";

const MOST = 16;

interface BranchEvent {
  event: string;
  index?: number;
  part?: string;
  state?: string;
  result?: { index: number; outcome: string; error: unknown; cell: Cell | null };
  score?: { value: number | null; error: string | null };
  winner?: number | null;
  adopted?: boolean;
  error?: { message?: string } | string | null;
}
interface Candidate {
  key: number;
  code: string;
  state: string;
  run: CellRun | null;
  score: string;
  won: boolean;
}
let keys = 0;
const candidate = (code: string): Candidate => ({ key: ++keys, code, state: "", run: null, score: "", won: false });

const STATES: Record<string, [string, Tone]> = {
  forked: ["Copied", "busy"], queued: ["Runs", "busy"], waiting: ["Waits for approval", "warn"], score: ["Is scored", "busy"],
  ok: ["Finished", "good"], failed: ["Failed", "bad"], stopped: ["Stopped", "idle"],
};
const KEEPS: [string, string][] = [
  ["ask", "I choose after I saw all"],
  ["first_ok", "The first one that succeeds"],
  ["best", "The one with the highest score"],
];

function Code({ one, label, language, run }: { one: Candidate; label: string; language: string; run: () => void }) {
  const host = useRef<HTMLDivElement>(null);
  const now = useRef(run);
  now.current = run;
  useEffect(() => {
    const editor = new Editor(host.current!, {
      text: one.code, label: `${label}. Escape, then Tab leaves the editor.`, onChange: (code) => (one.code = code),
      keys: [{ key: "Ctrl-Enter", mac: "Cmd-Enter", run: () => (now.current(), true) }],
    });
    void editor.language(language);
    return () => editor.destroy();
  }, []);
  return <div class="cell-editor candidate-code" ref={host} />;
}

function Result({ run, label }: { run: CellRun; label: string }) {
  const now = useStore(run.state);
  const nothing = async () => null;
  return (
    <>
      {now.usage && <p class="cell-status">{duration(now.usage.wall_ms)}</p>}
      <Outputs run={run} now={now} label={label} answer={nothing} fix={() => {}} show={() => {}} />
    </>
  );
}

/** Kept while the tab is open, so that a look at the tree loses no draft. */
const drafts = new Map<string, Candidate[]>();

export function BranchesView({ book, session }: { book: Book; session: Session }) {
  const [list, setList] = useState(() => drafts.get(book.id) ?? [candidate(""), candidate("")]);
  const [keep, setKeep] = useState("ask");
  const [score, setScore] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const [asks, setAsks] = useState<Candidate[] | null>(null); // all results are here, and one can be adopted
  const stop = useRef<AbortController | null>(null);
  drafts.set(book.id, list);
  useEffect(() => () => stop.current?.abort(), []);

  const take = (shown: Candidate[], e: BranchEvent) => {
    if (e.event === "forked") shown.forEach((c) => (c.state = "forked"));
    const one = shown[e.index ?? -1];
    if (e.event === "candidate" && one) one.state = e.part === "score" ? "score" : (e.state ?? "queued");
    else if (e.event === "result" && one && e.result) {
      one.state = e.result.outcome;
      if (e.result.cell) {
        one.run = new CellRun(one.code);
        one.run.fill(e.result.cell);
      }
    } else if (e.event === "score" && one && e.score) {
      one.state = "ok";
      one.score = e.score.error ?? String(e.score.value);
    } else if (e.event === "choose") {
      setAsks(shown);
      announce("All candidates ended. Choose one, or none.");
    } else if (e.event === "done") {
      if (e.error) setProblem(new Error(typeof e.error === "string" ? e.error : (e.error.message ?? "The branches ended with an error.")));
      if (e.winner != null) shown[e.winner].won = !!e.adopted;
      announce(e.winner != null ? `Candidate ${e.winner + 1} is adopted.` : "All candidates ended.");
    }
    setList((now) => [...now]);
  };

  const send = async (shown: Candidate[], keepNow: string) => {
    setBusy(true);
    setProblem(null);
    const body = {
      candidates: shown.map((c) => c.code), keep: keepNow, stream: true, ...(keepNow === "best" && { score }),
    };
    stop.current = new AbortController();
    try {
      const reply = await call("POST", path(book.id, "/branches"), { body, signal: stop.current.signal, accept: "application/x-ndjson" });
      await read(reply, (e) => take(shown, e as unknown as BranchEvent));
    } catch (error) {
      if (!stop.current.signal.aborted) setProblem(error);
      shown.forEach((c) => STATES[c.state]?.[1] === "busy" && (c.state = "stopped"));
    }
    setBusy(false);
    setAsks(null);
    await book.moved();
  };
  const run = () => {
    if (busy) return;
    const shown = list.filter((c) => c.code.trim());
    if (!shown.length) return toast("Write at least one candidate.", "bad");
    shown.forEach((c) => Object.assign(c, { state: "", run: null, score: "", won: false }));
    setList([...list]);
    void send(shown, keep);
  };
  /** The copies wait for the choice, so nothing runs again. */
  const choose = async (one: Candidate | null) => {
    try {
      await json("POST", path(book.id, "/branches/choose"), { body: one ? { winner: asks!.indexOf(one) } : {} });
      setAsks(null);
    } catch (error) {
      setProblem(error);
    }
  };

  return (
    <div class="branches">
      <p class="muted">
        Each candidate runs in its own copy of the session, at the same time. The session does not change until one is adopted.
      </p>
      <div class="bar panel">
        <label>
          Adopt{" "}
          <select class="field" value={keep} onChange={(e) => setKeep(e.currentTarget.value)}>
            {KEEPS.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {keep === "best" && (
          <label class="ask">
            Score{" "}
            <input class="field mono" value={score} placeholder="an expression: the highest number wins" autocomplete="off"
              onInput={(e) => setScore(e.currentTarget.value)} />
          </label>
        )}
        <span class="grow" />
        <button class="button" disabled={list.length >= MOST} onClick={() => setList([...list, candidate("")])}>
          Add a candidate
        </button>
        {asks && (
          <button class="button" onClick={() => void choose(null)}>
            Adopt none
          </button>
        )}
        {busy ? (
          <button class="button danger" onClick={() => stop.current?.abort()}>
            Stop all
          </button>
        ) : (
          <button class="button primary" disabled={session.state === "ended" || session.state === "busy"} onClick={run}>
            ▶ Run {count(list.length, "candidate")}
          </button>
        )}
      </div>
      {problem != null && <Problem error={problem} />}
      <div class="candidates">
        {list.map((one, i) => {
          const label = `Candidate ${i + 1}`;
          const [word, tone] = STATES[one.state] ?? ["", "idle"];
          return (
            <section key={one.key} class={`panel candidate ${one.won ? "won" : ""}`} aria-label={label} data-state={one.state}>
              <div class="bar">
                <h2>{label}</h2>
                {word && <Chip tone={tone}>{word}</Chip>}
                {one.won && <Chip tone="good">Adopted</Chip>}
                {one.score && <span class="muted">score {one.score}</span>}
                <span class="grow" />
                {one.state === "ok" && asks?.includes(one) && (
                  <button class="button small primary" aria-label={`Adopt ${label}`} onClick={() => void choose(one)}
                    title="The session goes on with its state">
                    Adopt
                  </button>
                )}
                {list.length > 1 && !busy && (
                  <button class="icon" aria-label={`Remove ${label}`} onClick={() => setList(list.filter((c) => c !== one))}>
                    ✕
                  </button>
                )}
              </div>
              <Code one={one} label={label} language={session.language} run={run} />
              {one.run && <Result key={one.run.serial} run={one.run} label={label} />}
            </section>
          );
        })}
      </div>
    </div>
  );
}
