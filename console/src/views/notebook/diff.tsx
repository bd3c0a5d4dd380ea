// Variables and files of a state of the tree beside those of this session. A checkpoint is a file: a short-lived copy of
// it answers, and is ended at once.
import { get, json, pause, words } from "../../kit/api";
import { bytes } from "../../kit/format";
import { Loading, useLoad } from "../../kit/parts";
import { useStore } from "../../kit/store";
import { path, type Session, type Variable } from "./api";
import type { Book } from "./book";
import type { Node } from "./layout";

interface FileRow {
  path: string;
  type: string;
  size: number;
  modified_at: string | null;
}
interface State {
  variables: Variable[];
  files: Variable[];
}
interface Change {
  name: string;
  how: string;
}

const glances = new Set<string>();
/** A copy that only answers the question of this page. */
export const isGlance = (id: string) => glances.has(id);

const SETTLE_MS = 300; // a person who walks on with the arrow keys asks for nothing

async function read(id: string, signal: AbortSignal): Promise<State> {
  const { variables } = await get<{ variables: Variable[] }>(path(id, "/variables"), { signal, quiet: true });
  const { files } = await get<{ files: FileRow[] }>(path(id, "/files"), { signal, quiet: true });
  return {
    variables,
    files: files.filter((f) => f.type === "file")
      .map((f) => ({ name: f.path, type: f.modified_at ?? "", preview: `${bytes(f.size)}, written ${f.modified_at?.replace("T", " ").slice(0, 19) ?? ""}` })),
  };
}

const known = new Map<string, State>(); // checkpoints do not change

async function readCheckpoint(node: Node, signal: AbortSignal): Promise<State> {
  const id = node.checkpoint!.id;
  const old = known.get(id);
  if (old) return old;
  const made = await json<{ sessions: Session[] }>("POST", path(node.session.id, "/fork"), { body: { from: id } });
  const copy = made.sessions[0].id;
  glances.add(copy);
  try {
    const state = await read(copy, signal);
    known.set(id, state);
    return state;
  } finally {
    await json("DELETE", path(copy)).catch(() => {});
  }
}

function compare(mine: Variable[], theirs: Variable[]): Change[] {
  const show = (v: Variable) => v.preview ?? v.type;
  const there = new Map(theirs.map((v) => [v.name, v]));
  const made: Change[] = [];
  for (const v of mine) {
    const other = there.get(v.name);
    if (!other) made.push({ name: v.name, how: `only here: ${show(v)}` });
    else if (show(v) !== show(other) || v.type !== other.type || v.size !== other.size)
      made.push({ name: v.name, how: `here ${show(v)}, there ${show(other)}` });
    there.delete(v.name);
  }
  for (const v of there.values()) made.push({ name: v.name, how: `only there: ${show(v)}` });
  return made;
}

function List({ title, changes }: { title: string; changes: Change[] }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {changes.length === 0 && <p class="muted">The same.</p>}
      <ul class="plain-list diff-list">
        {changes.slice(0, 100).map((c) => (
          <li key={c.name}>
            <code>{c.name}</code> {c.how}
          </li>
        ))}
      </ul>
      {changes.length > 100 && <p class="muted">and {changes.length - 100} more</p>}
    </section>
  );
}

/** "Here" is the present state of the open session, "there" the chosen state. */
export function StateDiff({ book, node }: { book: Book; node: Node }) {
  const session = useStore(book.session);
  const awake = session?.state === "idle" && (node.checkpoint !== null || node.session.state === "idle");
  const found = useLoad(`${awake} ${session?.at_cell} ${node.key} ${node.session.at_cell}`, async (signal) => {
    if (!awake) return null;
    await pause(SETTLE_MS);
    signal.throwIfAborted();
    const there = node.checkpoint ? await readCheckpoint(node, signal) : await read(node.session.id, signal);
    const here = await read(book.id, signal);
    return { variables: compare(here.variables, there.variables), files: compare(here.files, there.files) };
  });
  if (!awake) return <p class="hint">Variables and files are compared while both sessions are awake and run no cell.</p>;
  if (found.error != null) return <p class="muted">Not compared: {words(found.error)}</p>;
  if (!found.value) return <Loading what="its variables" />;
  return (
    <>
      <List title="Variables that differ" changes={found.value.variables} />
      <List title="Files that differ" changes={found.value.files} />
    </>
  );
}
