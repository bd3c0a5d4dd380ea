// The lines of a run in a list that has only the visible rows in the document.
import { useEffect, useRef } from "preact/hooks";
import { element, pieces } from "./ansi";
import type { Lines, Shown } from "./lines";

export const ROW = 20; // px; the style sheet says the same
const MOST_ROWS = 400; // in the document, also if a style made the box as high as its text

class Screen {
  #frame = 0;
  #follows = true;
  #top = 0;
  #inner: HTMLElement;
  shown: Shown = "all";

  constructor(
    readonly box: HTMLElement,
    readonly lines: Lines,
  ) {
    this.#inner = document.createElement("div");
    this.#inner.className = "rows";
    box.replaceChildren(this.#inner);
    box.addEventListener("scroll", () => {
      // Only a person scrolls up. A box that shrinks, because a result came, is no reason to stop.
      if (box.scrollTop + box.clientHeight >= box.scrollHeight - ROW) this.#follows = true;
      else if (box.scrollTop < this.#top) this.#follows = false;
      this.#top = box.scrollTop;
      this.refresh();
    });
    new ResizeObserver(() => this.refresh()).observe(box);
  }

  follow() {
    this.#follows = true;
    this.refresh();
  }

  stay() {
    this.#follows = false;
    this.refresh();
  }

  refresh() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#paint();
    });
  }

  #paint() {
    const { box, lines, shown } = this;
    const n = lines.length(shown);
    this.#inner.style.height = `${n * ROW}px`;
    if (this.#follows) {
      box.scrollTop = n * ROW;
      this.#top = box.scrollTop;
    }
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 8);
    const last = Math.min(n, first + MOST_ROWS, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + 8);
    const rows: HTMLElement[] = [];
    for (let i = first; i < last; i++) {
      const line = lines.line(shown, i);
      if (!line) continue;
      const row = document.createElement("div");
      row.className = line.stream === "stderr" ? "row err" : "row";
      row.style.transform = `translateY(${i * ROW}px)`;
      row.append(...pieces(line.text, line.look).map(element));
      rows.push(row);
    }
    this.#inner.replaceChildren(...rows);
  }
}

export interface OutputHandle {
  refresh(): void;
  follow(): void;
}

/** `handle` is filled in; its refresh() is cheap and may be called for every event. */
export function Output(props: {
  lines: Lines;
  shown: Shown;
  handle: { current: OutputHandle | null };
  label: string;
  /** It begins at its first line and does not follow the end. */
  top?: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  const screen = useRef<Screen | null>(null);
  useEffect(() => {
    screen.current = props.handle.current = new Screen(box.current!, props.lines);
    screen.current.refresh();
    return () => void (props.handle.current = null);
  }, [props.lines]);
  useEffect(() => {
    screen.current!.shown = props.shown;
    if (props.top) screen.current!.stay();
    else screen.current!.follow();
  }, [props.shown, props.lines]);
  return <div class="output" ref={box} tabIndex={0} role="region" aria-label={props.label} />;
}
