// The tree of a session as nodes with places: a lane for each session, from left to right by its cells.
export interface Checkpoint {
  id: string;
  name: string | null;
  kind: string;
  cell: number;
  before_cell: number | null;
  bytes: number;
  created_at: string;
}
export interface Branch {
  id: string;
  name: string | null;
  language: string;
  state: string;
  parent: string | null;
  parent_checkpoint: string | null;
  parent_cell: number;
  cells: number;
  at_cell: number;
  created_at: string;
  ended_at: string | null;
  reason: string | null;
  checkpoints: Checkpoint[];
}
export interface Node {
  key: string;
  kind: "start" | "checkpoint" | "undo" | "now";
  session: Branch;
  checkpoint: Checkpoint | null;
  /** The last cell whose effects this state has. */
  cell: number;
  lane: number;
  column: number;
}
export interface Edge {
  from: Node;
  to: Node;
}
export interface Layout {
  nodes: Node[];
  edges: Edge[];
  lanes: number;
  columns: number;
}

const MOST_LANES = 200;

function lanesOf(root: string, sessions: Branch[]): Branch[] {
  const children = new Map<string, Branch[]>();
  for (const s of sessions) children.set(s.parent ?? "", [...(children.get(s.parent ?? "") ?? []), s]);
  const order: Branch[] = [];
  const seen = new Set<string>();
  const visit = (s: Branch) => {
    if (seen.has(s.id) || order.length >= MOST_LANES) return;
    seen.add(s.id);
    order.push(s);
    for (const child of children.get(s.id) ?? []) visit(child);
  };
  const first = sessions.find((s) => s.id === root);
  if (first) visit(first);
  sessions.forEach(visit); // the parent of some may be gone
  return order;
}

/** A node begins right of the state that it came from. */
export function layOut(root: string, sessions: Branch[]): Layout {
  const order = lanesOf(root, sessions);
  const byKey = new Map<string, Node>();
  const nodes: Node[] = [];
  const edges: Edge[] = [];
  const ofSession = new Map<string, Node[]>();
  order.forEach((s, lane) => {
    const parents = ofSession.get(s.parent ?? "") ?? [];
    const origin =
      byKey.get(s.parent_checkpoint ?? "") ?? parents.filter((n) => n.cell <= s.parent_cell).at(-1) ?? parents[0] ?? null;
    let column = origin ? origin.column + 1 : 0;
    let last: Node | null = origin;
    const own: Node[] = [];
    const add = (kind: Node["kind"], cell: number, checkpoint: Checkpoint | null) => {
      const node: Node = { key: checkpoint?.id ?? `${s.id}:${kind}`, kind, session: s, checkpoint, cell, lane, column: column++ };
      if (last) edges.push({ from: last, to: node });
      last = node;
      own.push(node);
      nodes.push(node);
      byKey.set(node.key, node);
    };
    if (!origin) add("start", 0, null);
    const kept = [...s.checkpoints].sort((a, b) => a.cell - b.cell || a.created_at.localeCompare(b.created_at));
    for (const c of kept) add(c.kind === "undo" ? "undo" : "checkpoint", c.cell, c);
    // The present state grows out of the last one that it has in its past.
    const past = own.filter((n) => n.cell <= s.at_cell).at(-1) ?? origin;
    last = past;
    add("now", s.at_cell, null);
    ofSession.set(s.id, own);
  });
  return { nodes, edges, lanes: order.length, columns: Math.max(1, ...nodes.map((n) => n.column + 1)) };
}

const DIRECTIONS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
};

/** The nearest node in the direction of an arrow key. */
export function walk(layout: Layout, from: Node, key: string): Node | null {
  const [dx, dy] = DIRECTIONS[key] ?? [0, 0];
  if (key === "Home") return layout.nodes.find((n) => n.lane === from.lane) ?? null;
  if (key === "End") return layout.nodes.filter((n) => n.lane === from.lane).at(-1) ?? null;
  if (dx) {
    const line = layout.nodes.filter((n) => n.lane === from.lane && Math.sign(n.column - from.column) === dx);
    const near = line.sort((a, b) => Math.abs(a.column - from.column) - Math.abs(b.column - from.column))[0];
    // At the beginning of a copy, left leads to its origin.
    return near ?? (dx < 0 ? layout.edges.find((e) => e.to === from)?.from ?? null : null);
  }
  if (!dy) return null;
  const others = layout.nodes.filter((n) => n.lane === from.lane + dy);
  return others.sort((a, b) => Math.abs(a.column - from.column) - Math.abs(b.column - from.column))[0] ?? null;
}
