// The cells in groups. A browser lays out the children of a box one by one, and looks at each part of a page that it may
// skip in every frame: with a thousand cells beside each other, every keystroke paid for all of them.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Slot } from "./book";

const FULL = 20; // a group that grows at its end
const MOST = 60; // a group that grows in its middle

export interface Group {
  id: number;
  /** The place of its first cell in the notebook. */
  first: number;
  slots: Slot[];
}

let last = 0;
/** A cell stays in its group, so that no editor is made anew when a cell is put before it. `known` is kept by the caller. */
export function groupsOf(slots: Slot[], known: Map<number, number>): Group[] {
  const made: Group[] = [];
  const closed = new Set<number>();
  slots.forEach((s, i) => {
    const now = made.at(-1);
    const old = known.get(s.key);
    const within = now !== undefined && known.get(slots[i + 1]?.key ?? 0) === now.id;
    const stays = now !== undefined && (old === now.id || (old === undefined ? now.slots.length < (within ? MOST : FULL) : closed.has(old)));
    if (stays) now.slots.push(s);
    else {
      if (now) closed.add(now.id);
      made.push({ id: old !== undefined && !closed.has(old) ? old : ++last, first: i, slots: [s] });
    }
    known.set(s.key, made.at(-1)!.id);
  });
  return made;
}

// A cell that is far from the screen has neither colours nor outputs. The browser skips the content of its group and
// says when it comes near; one observer for all groups stands in for a browser that does not say so.
const NEAR = "contentvisibilityautostatechange";
const watched = new WeakMap<Element, () => void>();
const observer = new IntersectionObserver(
  (entries) => {
    for (const e of entries) if (e.isIntersecting) watched.get(e.target)?.();
  },
  { rootMargin: "600px" },
);

export function GroupBox(props: { size: number; active: boolean; children: (near: boolean) => ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const [near, set] = useState(false);
  // Before the first paint: the first change comes with it.
  useLayoutEffect(() => {
    const at = box.current!;
    const leave = () => (observer.unobserve(at), at.removeEventListener(NEAR, onChange));
    const onChange = (e: Event) => !(e as Event & { skipped: boolean }).skipped && (set(true), leave());
    if (`on${NEAR}` in at) at.addEventListener(NEAR, onChange);
    else {
      watched.set(at, () => (set(true), leave()));
      observer.observe(at);
    }
    return leave;
  }, []);
  useLayoutEffect(() => {
    if (props.active) set(true);
  }, [props.active]);
  return (
    <div class={`cells ${props.active ? "active" : ""}`} ref={box} style={{ "--cells": props.size }}>
      {props.children(near)}
    </div>
  );
}
