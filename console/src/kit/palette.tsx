// Ctrl+K: everything that the console can do, by its name.
import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "./dialog";
import { Store, useStore } from "./store";

export interface Command {
  name: string;
  keys?: string;
  run: () => void;
}

const sources = new Set<() => Command[]>();
export const paletteOpen = new Store(false);

/** A view adds its commands while it is on the screen. */
export function useCommands(commands: () => Command[]) {
  const now = useRef(commands);
  now.current = commands;
  useEffect(() => {
    const source = () => now.current();
    sources.add(source);
    return () => void sources.delete(source);
  }, []);
}

function matches(name: string, query: string) {
  const low = name.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word));
}

export function Palette() {
  return useStore(paletteOpen) ? <OpenPalette /> : null;
}

function OpenPalette() {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  // The commands of the view come first, those of the whole console last.
  const all = [...sources].reverse().flatMap((source) => source());
  const found = all.filter((c) => matches(c.name, query));
  const close = () => (paletteOpen.value = false);
  const choose = (command?: Command) => {
    if (!command) return;
    close();
    setTimeout(command.run); // after the focus is back
  };
  const onKey = (e: KeyboardEvent) => {
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step && found.length) setAt((at + step + found.length) % found.length);
    else if (e.key === "Enter") choose(found[at]);
    else return;
    e.preventDefault();
  };
  return (
    <Dialog title="Commands" close={close} class="palette">
      <input
        class="field"
        aria-label="Find a command"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found[at] ? `command-${at}` : undefined}
        placeholder="Type to find a command"
        autoFocus
        value={query}
        onInput={(e) => (setQuery(e.currentTarget.value), setAt(0))}
        onKeyDown={onKey}
      />
      <ul id="palette-list" role="listbox" aria-label="Commands">
        {found.map((c, i) => (
          <li key={c.name} id={`command-${i}`} role="option" aria-selected={i === at} onClick={() => choose(c)}>
            <span>{c.name}</span>
            {c.keys && <kbd>{c.keys}</kbd>}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="muted">No command has these words.</p>}
    </Dialog>
  );
}
