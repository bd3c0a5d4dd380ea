// Small parts that every view uses.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { words } from "./api";
import { serverNow } from "./clock";
import { ending, type Tone } from "./format";

const SIGNS: Record<Tone, string> = { good: "✓", bad: "✕", warn: "!", idle: "–", busy: "" };

/** A sign and a word: colour is never the only message. */
export function Chip({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={`chip ${tone}`}>
      {tone === "busy" ? <span class="spinner" aria-hidden="true" /> : <span aria-hidden="true">{SIGNS[tone]}</span>}
      {children}
    </span>
  );
}

export function Ending({ state, verdict }: { state: string; verdict: string | null }) {
  const [text, tone] = ending(state, verdict);
  return <Chip tone={tone}>{text}</Chip>;
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <p>{words(error)}</p>
      {retry && (
        <button class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" /> Loading {what}…
    </p>
  );
}

export type Loaded<T> = { value?: T; error?: unknown; again: () => void };

/** Loads when `key` changes, and again on demand. The old value stays until the new one is here. */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, set] = useState<{ value?: T; error?: unknown }>({});
  const [turn, next] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    load(stop.signal).then(
      (value) => !stop.signal.aborted && set({ value }),
      (error) => !stop.signal.aborted && set((old) => ({ ...old, error })),
    );
    return () => stop.abort();
  }, [key, turn]);
  return { ...state, again: () => next((n) => n + 1) };
}

/** The time of the service, every `ms`, to show ages anew. */
export function useTick(ms: number): number {
  const [, next] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => next((n) => n + 1), ms);
    return () => clearInterval(timer);
  }, [ms]);
  return serverNow();
}

/** Buttons of which one is pressed. */
export function Choice<T extends string>(props: {
  label: string;
  value: T;
  options: [T, string][];
  choose: (value: T) => void;
}) {
  return (
    <div class="choice" role="group" aria-label={props.label}>
      {props.options.map(([value, text]) => (
        <button key={value} aria-pressed={value === props.value} onClick={() => props.choose(value)}>
          {text}
        </button>
      ))}
    </div>
  );
}

/** A sentence in which `code` stands between backquotes. */
export function Sentence({ text }: { text: string }) {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return <>{text}</>;
  return <>{parts.map((part, i) => (i % 2 ? <code key={i}>{part}</code> : part))}</>;
}
