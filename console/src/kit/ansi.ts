// Escape sequences of terminals, as runs of text with a look. Everything that is not a colour is dropped:
// no sequence can move, hide or link anything. Characters that people cannot see are named.
export interface Look {
  fg?: string;
  bg?: string;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  inverse?: boolean;
}
export interface Piece {
  text: string;
  look: Look;
  /** The name of a character that is not seen. */
  hidden?: boolean;
}

const PLAIN: Look = {};
// CSI, OSC and other strings, two-byte escapes. Each part is bounded by the line.
const ESCAPE = /\x1b(?:\[([0-9;:?<=>!]*)[ -/]*([@-~])|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~]|$)/g;
// C0 but for tab, C1, bidirectional and zero-width characters, tags, and lone surrogates.
const HIDDEN =
  /[\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;

function cube(n: number): string {
  if (n < 16) return `c${n}`;
  if (n >= 232) {
    const v = 8 + (n - 232) * 10;
    return `rgb(${v} ${v} ${v})`;
  }
  const level = (v: number) => (v === 0 ? 0 : 55 + v * 40);
  const v = n - 16;
  return `rgb(${level(Math.floor(v / 36))} ${level(Math.floor(v / 6) % 6)} ${level(v % 6)})`;
}

function colour(codes: number[], at: number): [string | undefined, number] {
  if (codes[at + 1] === 5 && codes[at + 2] >= 0 && codes[at + 2] < 256) return [cube(codes[at + 2]), at + 2];
  if (codes[at + 1] === 2) {
    const parts = codes.slice(at + 2, at + 5).map((v) => Math.min(255, v || 0));
    return [`rgb(${parts.join(" ")})`, at + 4];
  }
  return [undefined, at + 1];
}

function apply(look: Look, parameters: string): Look {
  const codes = parameters.split(/[;:]/).map((v) => Number(v) || 0);
  let next: Look = { ...look };
  for (let i = 0; i < codes.length; i++) {
    const c = codes[i];
    if (c === 0) next = {};
    else if (c === 1) next.bold = true;
    else if (c === 2) next.dim = true;
    else if (c === 3) next.italic = true;
    else if (c === 4) next.underline = true;
    else if (c === 7) next.inverse = true;
    else if (c === 22) delete next.bold, delete next.dim;
    else if (c === 23) delete next.italic;
    else if (c === 24) delete next.underline;
    else if (c === 27) delete next.inverse;
    else if (c >= 30 && c <= 37) next.fg = `c${c - 30}`;
    else if (c === 38) [next.fg, i] = colour(codes, i);
    else if (c === 39) delete next.fg;
    else if (c >= 40 && c <= 47) next.bg = `c${c - 40}`;
    else if (c === 48) [next.bg, i] = colour(codes, i);
    else if (c === 49) delete next.bg;
    else if (c >= 90 && c <= 97) next.fg = `c${c - 82}`;
    else if (c >= 100 && c <= 107) next.bg = `c${c - 92}`;
  }
  return next;
}

/** The look at the end of a line; cheap if it has no escape. */
export function lookAfter(line: string, look: Look): Look {
  if (!line.includes("\x1b[")) return look;
  for (const m of line.matchAll(ESCAPE)) if (m[2] === "m") look = apply(look, m[1]);
  return look;
}

export const codePoint = (c: string) => `U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;

function addVisible(pieces: Piece[], text: string, look: Look) {
  let at = 0;
  for (const m of text.matchAll(HIDDEN)) {
    if (m.index > at) pieces.push({ text: text.slice(at, m.index), look });
    pieces.push({ text: codePoint(m[0]), look: PLAIN, hidden: true });
    at = m.index + m[0].length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), look });
}

/** A line without its newline. A carriage return starts it again, as a terminal does. */
export function pieces(line: string, look: Look): Piece[] {
  const made: Piece[] = [];
  if (line.endsWith("\r")) line = line.slice(0, -1);
  const restart = line.lastIndexOf("\r");
  if (restart >= 0) {
    look = lookAfter(line.slice(0, restart), look);
    line = line.slice(restart + 1);
  }
  if (!line.includes("\x1b")) {
    addVisible(made, line, look);
    return made;
  }
  let at = 0;
  for (const m of line.matchAll(ESCAPE)) {
    if (m.index > at) addVisible(made, line.slice(at, m.index), look);
    if (m[2] === "m") look = apply(look, m[1]);
    at = m.index + m[0].length;
  }
  if (at < line.length) addVisible(made, line.slice(at), look);
  return made;
}

/** A text without escapes, for other programs. */
export const plain = (text: string) => text.replace(ESCAPE, "");

/** As a span; a text without a look is a text node. */
export function element(piece: Piece): Node {
  const { look } = piece;
  if (!piece.hidden && look === PLAIN) return document.createTextNode(piece.text);
  const span = document.createElement("span");
  span.textContent = piece.text;
  if (piece.hidden) {
    span.className = "hidden-char";
    return span;
  }
  const [fg, bg] = look.inverse ? [look.bg ?? "back", look.fg ?? "front"] : [look.fg, look.bg];
  for (const [on, name] of [
    [look.bold, "bold"],
    [look.dim, "dim"],
    [look.italic, "italic"],
    [look.underline, "underline"],
  ] as const)
    if (on) span.classList.add(name);
  if (fg?.startsWith("rgb")) span.style.color = fg;
  else if (fg) span.classList.add(`f-${fg}`);
  if (bg?.startsWith("rgb")) span.style.backgroundColor = bg;
  else if (bg) span.classList.add(`b-${bg}`);
  return span;
}
