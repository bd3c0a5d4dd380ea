// Everything that a cell made, below its code.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Fix } from "../../editor/fix";
import { duration } from "../../kit/format";
import { Lines } from "../../kit/lines";
import { Output, type OutputHandle, ROW } from "../../kit/output";
import { Problem } from "../../kit/parts";
import { Rich } from "../../kit/rich";
import type { Table } from "../../kit/types";
import { Cause, Grid } from "../run/result";
import type { CellRun, Shown } from "./book";

const MOST_ROWS = 20;

/** Lines of text as high as they need, and never higher than MOST_ROWS. */
export function TextBox({ lines, label, run }: { lines: Lines; label: string; run?: CellRun }) {
  const box = useRef<HTMLDivElement>(null);
  const handle = useRef<OutputHandle>(null) as { current: OutputHandle | null };
  const fit = () => {
    const inner = box.current?.firstElementChild;
    if (!box.current || !inner) return;
    const wide = inner.scrollWidth > inner.clientWidth ? 14 : 0;
    box.current.style.height = `${Math.max(1, Math.min(MOST_ROWS, lines.length("all"))) * ROW + 8 + wide}px`;
  };
  useLayoutEffect(() => {
    fit();
    requestAnimationFrame(() => requestAnimationFrame(fit));
    if (!run) return;
    let frame = 0;
    run.onLines = () => {
      handle.current?.refresh();
      frame ||= requestAnimationFrame(() => ((frame = 0), fit()));
    };
    return () => {
      run.onLines = () => {};
      cancelAnimationFrame(frame);
    };
  }, [lines]);
  return (
    <div class="cell-text" ref={box}>
      <Output lines={lines} shown="all" handle={handle} label={label} />
    </div>
  );
}

function isTable(v: unknown): v is Table {
  const t = v as Table | null;
  return !!t && typeof t === "object" && Array.isArray(t.columns) && Array.isArray(t.rows);
}

const PAGES = ["text/html"];
/** A value by its best type. HTML is shown in the frame after a click; its text is there at once. */
export function Bundle({ data, index, cut }: { data: Record<string, unknown>; index: number; cut?: boolean }) {
  const table = data["application/json"];
  if (isTable(table)) return <Grid table={table} index={index} />;
  const page = PAGES.find((type) => data[type] !== undefined);
  const image = Object.keys(data).some((type) => type.startsWith("image/"));
  const plain = data["text/plain"];
  if (page && !image && typeof plain === "string" && !/^<.* object.*>$/.test(plain))
    return (
      <>
        <PlainText text={plain} label={`Value ${index + 1}`} />
        <details class="as-page">
          <summary>As a page</summary>
          <Rich display={{ data: { [page]: data[page] } }} />
        </details>
      </>
    );
  if (!page && !image && typeof plain === "string") return <PlainText text={plain} label={`Value ${index + 1}`} />;
  return <Rich display={{ data, cut }} />;
}

function PlainText({ text, label }: { text: string; label: string }) {
  const [lines, set] = useState<Lines | null>(null);
  useEffect(() => {
    const made = new Lines();
    made.append("stdout", text, 0);
    set(made);
  }, [text]);
  return lines && <TextBox lines={lines} label={label} />;
}

const STATUS: Record<string, string> = {
  error: "Failed", interrupted: "Interrupted", timeout: "Out of time", lost: "Lost: the program ended with its variables",
};
const UNDONE: Record<string, string> = {
  undo: "undone", rollback: "rolled back", jar_ended: "lost with its program", restart: "before a restart", replay: "replayed later",
};

export function status(now: Shown): string {
  const parts: string[] = [];
  if (now.phase === "over" && now.status && now.status !== "ok") parts.push(STATUS[now.status] ?? now.status);
  if (now.usage) parts.push(duration(now.usage.wall_ms));
  if (now.rolledBack) parts.push(UNDONE[now.rolledBack] ?? now.rolledBack);
  if (now.adopted) parts.push("adopted from a branch");
  return parts.join(" · ");
}

function Ask({ asks, answer }: { asks: NonNullable<Shown["asks"]>; answer: (text: string, eof?: boolean) => Promise<unknown> }) {
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <form class="stdin" onSubmit={(e) => (e.preventDefault(), void answer(text).then((ok) => ok && setText("")))}>
      <label class="ask">
        <span class="mono">{asks.prompt || "Input"}</span>
        <input ref={field} class="field mono" type={(asks.password ? "password" : "text") as "text"} value={text} autocomplete="off"
          onInput={(e) => setText(e.currentTarget.value)} />
      </label>
      <button class="button small" type="submit">
        Send
      </button>
    </form>
  );
}

export function Outputs(props: {
  run: CellRun;
  now: Shown;
  label: string;
  answer: (text: string, eof?: boolean) => Promise<unknown>;
  fix: Fix;
  show: (line: number) => void;
}) {
  const { run, now, label } = props;
  const [, again] = useState(0);
  const { printed } = run;
  useLayoutEffect(() => {
    if (now.phase !== "over" && !printed) run.onLines = () => again((n) => n + 1); // until the box of the lines is there
  }, [run, now.phase, printed]);
  return (
    <div class="cell-out">
      {printed && <TextBox lines={run.lines} label={`Output of ${label}`} run={run} />}
      {now.displays.map((d, i) => (
        <Bundle key={i} data={d.data} index={i} cut={d.cut} />
      ))}
      {now.result && <Bundle data={now.result} index={now.displays.length} />}
      {now.asks && <Ask asks={now.asks} answer={props.answer} />}
      {now.error && !now.diagnosis && <PlainText text={now.error.traceback || `${now.error.name}: ${now.error.message}`} label={`Error of ${label}`} />}
      {now.diagnosis && now.phase === "over" && <Cause d={now.diagnosis} fix={props.fix} show={props.show} />}
      {now.diagnosis && now.error?.traceback && (
        <details class="as-page">
          <summary>Traceback</summary>
          <PlainText text={now.error.traceback} label={`Traceback of ${label}`} />
        </details>
      )}
      {now.notes.map((n) => (
        <p class="note warn" key={n}>
          {n}
        </p>
      ))}
      {now.problem != null && <Problem error={now.problem} />}
    </div>
  );
}
