// The tree of forks and checkpoints: walk it with the arrow keys, look at a state, go back, fork.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, json, words } from "../../kit/api";
import { ago, bytes, count } from "../../kit/format";
import { followFeed } from "../../kit/hub";
import { Chip, Loading, Problem, useLoad } from "../../kit/parts";
import { go } from "../../kit/router";
import { toast } from "../../kit/say";
import { useStore } from "../../kit/store";
import { type Cell, cellsOf, path, type Session, stateOf, titleOf } from "./api";
import type { Book } from "./book";
import { isGlance, StateDiff } from "./diff";
import { type Branch, layOut, type Layout, type Node, walk } from "./layout";

const STEP_X = 104;
const STEP_Y = 62;
const LEFT = 40;
const TOP = 44;

const x = (n: Node) => LEFT + n.column * STEP_X;
const y = (n: Node) => TOP + n.lane * STEP_Y;

/** The text in the drawing, which the name begins with. */
const textOf = (n: Node) => (n.kind === "now" ? titleOf(n.session) : (n.checkpoint?.name ?? (n.kind === "start" ? "start" : ""))).slice(0, 13);
const markOf = (n: Node) => (n.cell ? `[${n.cell}]` : "");

const KINDS: Record<Node["kind"], string> = {
  start: "Beginning", checkpoint: "Checkpoint", undo: "Undo state", now: "Present state",
};
function nameOf(n: Node): string {
  if (n.kind === "now") return `Present state of ${titleOf(n.session)}, after cell ${n.cell}`;
  if (n.kind === "start") return `Beginning of ${titleOf(n.session)}`;
  return `${KINDS[n.kind]} ${n.checkpoint!.name ?? ""} of ${titleOf(n.session)}, after cell ${n.cell}`;
}

function Drawing(props: { layout: Layout; here: string; chosen: Node; choose: (n: Node) => void }) {
  const { layout, chosen } = props;
  const box = useRef<SVGSVGElement>(null);
  const onKey = (e: KeyboardEvent) => {
    const next = walk(layout, chosen, e.key);
    if (!next) return;
    e.preventDefault();
    props.choose(next);
    box.current!.querySelector<SVGGElement>(`[data-key="${CSS.escape(next.key)}"]`)?.focus();
  };
  useEffect(() => {
    box.current!.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [chosen.key]);
  const width = LEFT * 2 + (layout.columns - 1) * STEP_X + 40;
  const height = TOP + (layout.lanes - 1) * STEP_Y + 40;
  return (
    <div class="panel tree-box" tabIndex={0} role="region" aria-label="Drawing of the tree">
      <svg ref={box} class="tree" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="listbox"
        aria-label="States of the session. The arrow keys walk." onKeyDown={onKey}>
        {layout.edges.map((e, i) => {
          const [ax, ay, bx, by] = [x(e.from), y(e.from), x(e.to), y(e.to)];
          return <path key={i} class="edge" aria-hidden="true" d={`M${ax} ${ay}C${ax + 50} ${ay} ${bx - 60} ${by} ${bx} ${by}`} />;
        })}
        {layout.nodes.map((n) => (
          <g key={n.key} data-key={n.key} role="option" class={`node ${n.kind} ${n.session.id === props.here ? "here" : ""} ${n.session.state}`}
            aria-selected={n === chosen} aria-label={`${textOf(n)} ${markOf(n)} ${nameOf(n)}`.trim()} tabindex={n === chosen ? 0 : -1} transform={`translate(${x(n)} ${y(n)})`}
            onClick={(e) => (props.choose(n), (e.currentTarget as SVGGElement).focus())}>
            <rect x={-44} y={-26} width={88} height={50} class="hit" rx={8} />
            {n.kind === "now" ? <rect x={-9} y={-9} width={18} height={18} rx={4} class="dot" /> : <circle r={n.kind === "undo" ? 5 : 8} class="dot" />}
            <text aria-hidden="true" y={-15} text-anchor="middle" class="tree-name">
              {textOf(n)}
            </text>
            <text aria-hidden="true" y={21} text-anchor="middle" class="tree-cell">
              {markOf(n)}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}

/** The first line of each cell. */
function CellList({ cells, title, empty }: { cells: Cell[]; title: string; empty: string }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {cells.length === 0 && <p class="muted">{empty}</p>}
      <ul class="plain-list diff-list">
        {cells.slice(0, 50).map((c) => (
          <li key={c.id}>
            <span class="muted mono">[{c.cell}]</span> <code>{c.code.trim().split("\n")[0].slice(0, 80)}</code>
            {c.code.trim().includes("\n") && <span class="muted"> … {count(c.code.trim().split("\n").length, "line")}</span>}
            {c.status !== "ok" && <span class="warn-text"> {c.status}</span>}
          </li>
        ))}
      </ul>
      {cells.length > 50 && <p class="muted">and {count(cells.length - 50, "further cell")}</p>}
    </section>
  );
}

function Details({ book, node, again }: { book: Book; node: Node; again: () => void }) {
  const s = node.session;
  const own = s.id === book.id;
  const cells = useLoad(`${s.id} ${s.cells} ${s.at_cell}`, () => cellsOf(s.id).then((l) => l.cells, () => [] as Cell[]));
  const [busy, setBusy] = useState(false);
  const act = async (what: Promise<unknown>, done: string) => {
    setBusy(true);
    try {
      await what;
      toast(done);
      await book.moved();
      again();
    } catch (error) {
      toast(words(error), "bad");
    }
    setBusy(false);
  };
  const to = node.checkpoint?.id;
  const back = () => act(json("POST", path(s.id, "/rollback"), { body: { to } }), `${titleOf(s)} is at the state after cell ${node.cell}.`);
  const fork = () => act(json("POST", path(s.id, "/fork"), { body: to ? { from: to } : {} }), "A copy of this state is a session of its own.");
  const drop = () => act(json("DELETE", path(s.id, `/checkpoints/${to}`)), "The checkpoint is deleted.");
  const wake = () => act(json("POST", path(s.id, "/wake"), { body: {} }), "The session is awake.");
  const alive = s.state !== "ended";
  const effective = (cells.value ?? []).filter((c) => !c.rolled_back);
  const [word, tone] = stateOf(s.state);
  return (
    <section class="panel tree-details" aria-label="The chosen state" aria-live="polite">
      <h2>{nameOf(node)}</h2>
      <p class="muted">
        <Chip tone={tone}>{word}</Chip> {s.language}
        {node.checkpoint ? ` · ${bytes(node.checkpoint.bytes)} on the disk · ${ago(node.checkpoint.created_at)}` : ` · ${ago(s.created_at)}`}
        {s.reason ? ` · ${s.reason}` : ""}
      </p>
      <p class="nb-actions start">
        {to && alive && (
          <button class="button primary" disabled={busy} onClick={() => void back()}>
            Go back here
          </button>
        )}
        {alive && node.kind !== "start" && (
          <button class="button" disabled={busy} onClick={() => void fork()}>
            Fork from here
          </button>
        )}
        {!own && <a class="button" href={`#/sessions/${s.id}`}>Open</a>}
        {s.state === "sleeping" && (
          <button class="button" disabled={busy} onClick={() => void wake()}>
            Wake
          </button>
        )}
        {to && alive && (
          <button class="button" disabled={busy} onClick={() => void drop()}>
            Delete
          </button>
        )}
        {busy && <span class="spinner" aria-hidden="true" />}
      </p>
      {node.kind !== "now" && (
        <CellList title="Cells after this state" empty="None: the session is at this state." cells={effective.filter((c) => c.cell > node.cell)} />
      )}
      {!(own && node.kind === "now") && alive && node.kind !== "start" && <StateDiff book={book} node={node} />}
      <CellList title={node.kind === "now" ? "Cells of this session" : "Cells in this state"} empty={s.parent ? "None of its own: it has those of its origin." : "None."}
        cells={effective.filter((c) => c.cell <= (node.kind === "now" ? Infinity : node.cell))} />
    </section>
  );
}

/** Without copies that this page made to look into a checkpoint, and copies that ended without a cell. */
function worthSeeing(sessions: Branch[]): Branch[] {
  const parents = new Set(sessions.map((s) => s.parent));
  return sessions.filter((s) => !isGlance(s.id) && !(s.parent && s.state === "ended" && s.cells === 0 && !parents.has(s.id)));
}

export function TreeView({ book, session }: { book: Book; session: Session }) {
  const turn = useStore(book.turn);
  const tree = useLoad(`${book.id} ${turn}`, (signal) => get<{ root: string; sessions: Branch[] }>(path(book.id, "/tree"), { signal }));
  const [key, setKey] = useState(`${book.id}:now`);
  useEffect(() => {
    return followFeed("sessions", () => tree.again());
  }, []);
  if (tree.error != null && !tree.value) return <Problem error={tree.error} retry={tree.again} />;
  if (!tree.value) return <Loading what="the tree" />;
  const layout = layOut(tree.value.root, worthSeeing(tree.value.sessions));
  const chosen = layout.nodes.find((n) => n.key === key) ?? layout.nodes.find((n) => n.key === `${book.id}:now`) ?? layout.nodes[0];
  return (
    <div class="tree-view">
      <Drawing layout={layout} here={book.id} chosen={chosen} choose={(n) => setKey(n.key)} />
      <p class="legend muted" aria-hidden="true">
        <span class="key now" /> present state <span class="key checkpoint" /> checkpoint <span class="key undo" /> undo state
      </p>
      <Details key={chosen.key} book={book} node={chosen} again={tree.again} />
      {session.state !== "ended" && layout.nodes.length < 3 && (
        <p class="hint">
          Keep a checkpoint or fork a state, and it appears here. <button class="link" onClick={() => go("sessions", book.id)}>Back to the cells</button>
        </p>
      )}
    </div>
  );
}
