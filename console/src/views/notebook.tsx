// A session as a notebook, and the list of all sessions.
import { useEffect, useRef, useState } from "preact/hooks";
import { words } from "../kit/api";
import { ago, bytes, count } from "../kit/format";
import { useCommands } from "../kit/palette";
import { Chip, Choice, Loading, Problem } from "../kit/parts";
import { go } from "../kit/router";
import { toast } from "../kit/say";
import { useStore } from "../kit/store";
import { type Session, stateOf, titleOf } from "./notebook/api";
import { Book } from "./notebook/book";
import { BranchesView } from "./notebook/branches";
import { CellView } from "./notebook/cell";
import { GroupBox, groupsOf } from "./notebook/groups";
import { exportNotebook } from "./notebook/ipynb";
import { EndDialog, SessionList } from "./notebook/list";
import { Help, type Question, Variables } from "./notebook/side";
import { TreeView } from "./notebook/tree";

export function NotebookView({ parts }: { parts: string[] }) {
  return parts[0] ? <Opened key={parts[0]} id={parts[0]} tab={parts[1] ?? ""} /> : <SessionList />;
}

function Bar({ book, session }: { book: Book; session: Session }) {
  const [ending, setEnding] = useState(false);
  const [text, tone] = stateOf(session.state);
  const alive = session.state !== "ended";
  const wake = async () => {
    await book.ask("/wake");
    await book.moved();
  };
  const checkpoint = async () => {
    const made = await book.ask<{ bytes: number; cell: number }>("/checkpoints");
    if (made) toast(`The state after cell ${made.cell} is kept: ${bytes(made.bytes)}.`);
    await book.moved();
  };
  const undo = async () => {
    if (await book.ask("/undo")) toast("The last cell is undone.");
    await book.moved();
  };
  const restart = async () => {
    if (await book.ask("/restart")) toast("The program began anew, without variables.");
    await book.moved();
  };
  const runAll = () => book.slots.value.forEach((s) => book.run(s.key));
  const save = () => exportNotebook(book, titleOf(session)).catch((e) => toast(words(e), "bad"));
  const items: [string, () => void, string?][] = [
    ["Run all cells", runAll],
    ["Keep a checkpoint", () => void checkpoint()],
    ["Undo the last cell", () => void undo()],
    ["Restart", () => void restart()],
    ["Export .ipynb", () => void save()],
    ["Sleep", () => void book.ask("/sleep").then(() => book.moved())],
  ];
  useCommands(() => [
    ...(alive ? items.map(([name, run]) => ({ name, run })) : [{ name: "Export .ipynb", run: () => void save() }]),
    { name: "Show the tree of forks and checkpoints", run: () => void go("sessions", session.id, "tree") },
    { name: "Run candidates in branches", run: () => void go("sessions", session.id, "branches") },
    { name: "Interrupt the cell", keys: "Ctrl+.", run: () => void book.interrupt() },
  ]);
  const menu = useRef<HTMLDetailsElement>(null);
  return (
    <div class="page-head">
      <h1>{titleOf(session)}</h1>
      <Chip tone={tone}>{text}</Chip>
      <span class="muted facts-line">
        {session.language} · {count(session.cells, "cell")} · {session.state === "sleeping" ? "on the disk" : bytes(session.memory_bytes)}
      </span>
      <span class="grow" />
      {session.state === "sleeping" && (
        <button class="button primary" onClick={() => void wake()}>
          Wake
        </button>
      )}
      {session.state === "busy" && (
        <button class="button danger" onClick={() => void book.interrupt()} title="Ctrl+.">
          Interrupt
        </button>
      )}
      {alive && (
        <button class="button" onClick={() => void undo()} disabled={session.undo === 0 || session.state === "busy"}>
          Undo
        </button>
      )}
      {alive && (
        <button class="button" onClick={() => void checkpoint()} disabled={session.state === "busy"}>
          Checkpoint
        </button>
      )}
      <details class="menu" ref={menu} onKeyDown={(e) => e.key === "Escape" && (menu.current!.open = false)}>
        <summary class="button">More</summary>
        <div class="menu-list">
          {(alive ? items : items.slice(4, 5)).map(([name, run]) => (
            <button key={name} onClick={() => (run(), (menu.current!.open = false))}>
              {name}
            </button>
          ))}
          {alive && (
            <button onClick={() => (setEnding(true), (menu.current!.open = false))}>End the session…</button>
          )}
        </div>
      </details>
      {ending && <EndDialog session={session} close={(done) => (setEnding(false), done && go("sessions"))} />}
    </div>
  );
}

function Cells({ book, session }: { book: Book; session: Session }) {
  const slots = useStore(book.slots);
  const active = useStore(book.active);
  const [editing, setEditing] = useState(true);
  const [question, ask] = useState<Question | null>(null);
  const [known] = useState(() => new Map<number, number>());
  const groups = groupsOf(slots, known);
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if ((e.ctrlKey || e.metaKey) && e.key === "." && !e.defaultPrevented) void book.interrupt();
    };
    addEventListener("keydown", onKey);
    performance.mark("notebook");
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <div class="nb">
      <div class="nb-cells">
        {book.cut && <p class="note">The newest {count(slots.length - 1, "cell")} are here. The export has up to 1,000.</p>}
        {groups.map((g) => (
          <GroupBox key={g.id} size={g.slots.length} active={g.slots.some((s) => s.key === active)}>
            {(near) =>
              g.slots.map((s, i) => (
                <CellView key={s.key} book={book} slot={s} index={g.first + i} language={session.language} active={s.key === active}
                  near={near} editing={editing} edit={setEditing} inspect={(code, cursor) => ask({ code, cursor })} />
              ))
            }
          </GroupBox>
        ))}
        <p class="hint">
          <kbd>Ctrl</kbd>+<kbd>Enter</kbd> runs a cell, <kbd>Shift</kbd>+<kbd>Enter</kbd> runs it and goes on, <kbd>Ctrl</kbd>+
          <kbd>.</kbd> interrupts, <kbd>Esc</kbd> leaves the editor.
        </p>
      </div>
      <aside class="nb-side" aria-label="Variables and help">
        <Variables book={book} />
        <Help book={book} question={question} />
      </aside>
    </div>
  );
}

const TABS: [string, string][] = [["", "Cells"], ["tree", "Tree"], ["branches", "Branches"]];
const PARTS: Record<string, typeof Cells> = { tree: TreeView, branches: BranchesView };

function Opened({ id, tab }: { id: string; tab: string }) {
  const [book] = useState(() => new Book(id));
  const session = useStore(book.session);
  const problem = useStore(book.problem);
  useEffect(() => {
    void book.open().then(() => (book.active.value ||= book.slots.value.at(-1)?.key ?? 0));
    const keep = () => book.keep();
    addEventListener("pagehide", keep);
    return () => {
      removeEventListener("pagehide", keep);
      book.close();
    };
  }, []);
  if (problem != null)
    return (
      <>
        <Problem error={problem} />
        <p>
          <a href="#/sessions">All sessions</a>
        </p>
      </>
    );
  if (!session) return <Loading what="the notebook" />;
  const Shown = PARTS[tab] ?? Cells;
  return (
    <div class="book" data-state={session.state}>
      <Bar book={book} session={session} />
      {session.state === "ended" && (
        <p class="note warn">
          This session ended {ago(session.ended_at)}: {session.reason}. Its cells stay readable.
        </p>
      )}
      {session.sleep_error && <p class="note warn">{session.sleep_error}</p>}
      <Choice label="Parts of the session" value={tab} options={TABS} choose={(to) => void go(...["sessions", id, to].filter(Boolean))} />
      <Shown book={book} session={session} />
    </div>
  );
}
