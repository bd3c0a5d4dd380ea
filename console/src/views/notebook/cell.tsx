// One cell of a notebook.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Editor } from "../../editor/editor";
import { type Fix, fixOf } from "../../editor/fix";
import { Chip } from "../../kit/parts";
import { toast } from "../../kit/say";
import { Store, useStore } from "../../kit/store";
import type { Book, CellRun, Shown, Slot } from "./book";
import { LiveCode, StaticCode } from "./code";
import { Outputs, status } from "./outputs";

const none = new Store<Shown | null>(null);
const useRun = (run: CellRun | null): Shown | null => useStore((run?.state ?? none) as Store<Shown | null>);

const PHASES: Record<string, string> = { sending: "Sending", waiting: "Waits for approval", queued: "Queued", running: "Runs" };

export function CellView(props: { book: Book; slot: Slot; index: number; language: string; active: boolean; editing: boolean;
  near: boolean; edit: (on: boolean) => void; inspect: (code: string, cursor: number) => void }) {
  const { book, slot, active, near } = props;
  const now = useRun(slot.run);
  const box = useRef<HTMLElement>(null);
  const editor = useRef<Editor>(null) as { current: Editor | null };
  const [at, setAt] = useState(-1);
  const busy = !!now && now.phase !== "over";
  const label = `Cell ${props.index + 1}`;
  const live = active && props.editing;
  const stale = slot.run !== null && slot.run.code !== slot.code;

  const choose = (position: number) => {
    setAt(position);
    book.active.value = slot.key;
    props.edit(true);
  };
  const run = (next: boolean) => {
    book.run(slot.key);
    if (next) book.step(slot.key, 1);
  };
  const keys = (e: KeyboardEvent) => {
    const mod = e.ctrlKey || e.metaKey;
    if (e.key === "Enter" && mod) run(false);
    else if (e.key === "Enter" && e.shiftKey) run(true);
    else if (e.key === "Enter") choose(slot.code.length);
    else if (e.key === "." && mod) void book.interrupt();
    else if (e.key === "ArrowDown" || e.key === "j") book.step(slot.key, 1);
    else if (e.key === "ArrowUp" || e.key === "k") book.step(slot.key, -1);
    else if (e.key === "b") book.insert(slot.key);
    else return;
    e.preventDefault();
  };
  const fix: Fix = (line, text, action, expected) => {
    const change = fixOf(slot.code, line, text, action, expected);
    if (!change) return toast("The cell was changed since it ran: the faulty line is not there any more.", "bad");
    if (editor.current) return void editor.current.fix(line, text, action, expected);
    book.edit(slot.key, slot.code.slice(0, change.from) + change.insert + slot.code.slice(change.to));
    book.change();
  };
  const show = (line: number) => {
    choose(slot.code.split("\n").slice(0, line).join("\n").length);
    editor.current?.show(line);
  };
  const mark = busy ? "…" : now?.count ?? slot.run?.number ?? " ";
  useEffect(() => {
    if (active) box.current!.scrollIntoView({ block: "nearest" });
  }, [active]);

  return (
    <section class={`cell ${active ? "active" : ""} ${now?.rolledBack ? "undone" : ""}`} ref={box} aria-label={label}
      data-phase={now?.phase ?? "draft"} data-status={now?.status ?? ""}>
      <div class="cell-number" aria-hidden="true">
        {slot.text ? "¶" : `[${mark}]`}
      </div>
      <div class="cell-main">
        <div class="cell-row">
          {live ? (
            <LiveCode key={slot.key} book={book} slot={slot} language={props.language} label={label} at={at} handle={editor}
              act={{ run, leave: () => props.edit(false), step: (by) => book.step(slot.key, by), inspect: props.inspect }} />
          ) : (
            <StaticCode slot={slot} language={props.language} label={label} near={near} focus={active && !props.editing}
              edit={choose} keys={keys} enter={() => ((book.active.value = slot.key), props.edit(false))} />
          )}
          <div class="cell-tools">
            {busy ? (
              <button class="icon" aria-label={`Interrupt ${label}`} title="Interrupt (Ctrl+.)" onClick={() => void book.interrupt()}>
                ■
              </button>
            ) : (
              !slot.text && (
                <button class="icon" aria-label={`Run ${label}`} title="Run (Ctrl+Enter)" onClick={() => run(false)}>
                  ▶
                </button>
              )
            )}
            <button class="icon" aria-label={`New cell below ${label}`} title="New cell below (b)" onClick={() => (book.insert(slot.key), props.edit(true))}>
              +
            </button>
            {!slot.run && (
              <button class="icon" aria-label={`Remove ${label}`} title="Remove this draft" onClick={() => book.remove(slot.key)}>
                ✕
              </button>
            )}
          </div>
        </div>
        {now && (busy || status(now) || stale || now.lost) && (
          <p class="cell-status">
            {busy && <Chip tone={now.phase === "waiting" ? "warn" : "busy"}>{PHASES[now.phase]}</Chip>}
            {now.lost && <Chip tone="warn">Reconnecting</Chip>}
            <span>{status(now)}</span>
            {stale && <span>The code was changed after this run.</span>}
          </p>
        )}
        {now && slot.run && near && (
          <Outputs key={slot.run.serial} run={slot.run} now={now} label={label} answer={(t, eof) => book.answer(t, eof)} fix={fix} show={show} />
        )}
      </div>
    </section>
  );
}
