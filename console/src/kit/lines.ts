// The output of a run as lines, with bounded memory: the newest lines stay, and the number of the lines
// that were dropped is known. The service keeps all bytes.
import { lookAfter, type Look } from "./ansi";

export type Stream = "stdout" | "stderr";
export type Shown = "all" | Stream;
const KINDS: Record<Stream, number> = { stdout: 1, stderr: 2 };
const CONTINUES = 4; // the next line of this stream belongs to the same line of the program

export const MAX_CHARS = 8 << 20;
export const MAX_LINES = 1 << 20;
const MAX_LINE = 4096;

export class Lines {
  #text: string[] = [];
  #kind = new Uint8Array(1024);
  #look = new Uint16Array(1024);
  #time = new Float32Array(1024);
  #looks: Look[] = [{}];
  #lookIds = new Map<string, number>([["{}", 0]]);
  #tail: Record<Stream, string> = { stdout: "", stderr: "" };
  #now: Record<Stream, number> = { stdout: 0, stderr: 0 }; // the look at the end of the stream
  #index = new Map<Stream, number[]>(); // the lines of one stream, once they are asked for
  #chars = 0;
  dropped = 0;
  bytes: Record<Stream, number> = { stdout: 0, stderr: 0 };

  clear() {
    Object.assign(this, new Lines());
    this.#text = [];
    this.#tail = { stdout: "", stderr: "" };
    this.#now = { stdout: 0, stderr: 0 };
    this.#index.clear();
    this.#chars = 0;
  }

  append(stream: Stream, piece: string, time: number) {
    const text = this.#tail[stream] + piece;
    let at = 0;
    for (let end; (end = text.indexOf("\n", at)) >= 0; at = end + 1) this.#pushLong(stream, text.slice(at, end), time);
    let tail = text.slice(at);
    if (tail.length > MAX_LINE) {
      const whole = tail.length - (tail.length % MAX_LINE);
      for (let i = 0; i < whole; i += MAX_LINE) this.#push(stream, tail.slice(i, i + MAX_LINE), time, CONTINUES);
      tail = tail.slice(whole);
    }
    this.#tail[stream] = tail;
    if (this.#chars > MAX_CHARS || this.#text.length > MAX_LINES) this.#drop();
  }

  #pushLong(stream: Stream, line: string, time: number) {
    let at = 0;
    for (; line.length - at > MAX_LINE; at += MAX_LINE) this.#push(stream, line.slice(at, at + MAX_LINE), time, CONTINUES);
    this.#push(stream, at ? line.slice(at) : line, time, 0);
  }

  #push(stream: Stream, line: string, time: number, flags: number) {
    const n = this.#text.length;
    if (n === this.#kind.length) this.#grow(n * 2);
    this.#text.push(line);
    this.#kind[n] = KINDS[stream] | flags;
    this.#look[n] = this.#now[stream];
    this.#time[n] = time;
    this.#index.get(stream)?.push(n);
    this.#chars += line.length + 1;
    if (line.includes("\x1b[")) this.#now[stream] = this.#lookId(lookAfter(line, this.#looks[this.#now[stream]]));
  }

  #lookId(look: Look): number {
    const key = JSON.stringify(look);
    let id = this.#lookIds.get(key);
    if (id === undefined) {
      if (this.#looks.length >= 65535) return 0; // a program that changes its colour without end
      id = this.#looks.push(look) - 1;
      this.#lookIds.set(key, id);
    }
    return id;
  }

  #grow(n: number) {
    const copy = <T extends Uint8Array | Uint16Array | Float32Array>(to: T, from: T) => (to.set(from), to);
    this.#kind = copy(new Uint8Array(n), this.#kind);
    this.#look = copy(new Uint16Array(n), this.#look);
    this.#time = copy(new Float32Array(n), this.#time);
  }

  /** A quarter at once, so that it is rare. */
  #drop() {
    let n = 0;
    for (let chars = 0; n < this.#text.length / 4 || chars < this.#chars - MAX_CHARS; n++) chars += this.#text[n].length + 1;
    for (let i = 0; i < n; i++) this.#chars -= this.#text[i].length + 1;
    this.#text = this.#text.slice(n);
    for (const array of [this.#kind, this.#look, this.#time]) array.copyWithin(0, n);
    this.dropped += n;
    this.#index.clear();
  }

  #lines(stream: Stream): number[] {
    let list = this.#index.get(stream);
    if (!list) {
      list = [];
      for (let i = 0; i < this.#text.length; i++) if ((this.#kind[i] & 3) === KINDS[stream]) list.push(i);
      this.#index.set(stream, list);
    }
    return list;
  }

  #tails(shown: Shown): Stream[] {
    return (["stdout", "stderr"] as const).filter((s) => (shown === "all" || shown === s) && this.#tail[s] !== "");
  }

  length(shown: Shown): number {
    return (shown === "all" ? this.#text.length : this.#lines(shown).length) + this.#tails(shown).length;
  }

  line(shown: Shown, row: number): { text: string; stream: Stream; look: Look; time: number } | null {
    const n = shown === "all" ? this.#text.length : this.#lines(shown).length;
    if (row >= n) {
      const stream = this.#tails(shown)[row - n];
      return stream ? { text: this.#tail[stream], stream, look: this.#looks[this.#now[stream]], time: -1 } : null;
    }
    const i = shown === "all" ? row : this.#lines(shown)[row];
    return {
      text: this.#text[i],
      stream: (this.#kind[i] & 3) === KINDS.stderr ? "stderr" : "stdout",
      look: this.#looks[this.#look[i]],
      time: this.#time[i],
    };
  }

  /** The text as the program wrote it, from the oldest line that is kept. */
  text(shown: Shown): string {
    let out = "";
    for (let i = 0; i < this.#text.length; i++) {
      if (shown !== "all" && (this.#kind[i] & 3) !== KINDS[shown]) continue;
      out += this.#text[i] + (this.#kind[i] & CONTINUES ? "" : "\n");
    }
    for (const stream of this.#tails(shown)) out += this.#tail[stream];
    return out;
  }
}

/** The text of an event. Bytes that are not UTF-8 are shown as replacement characters. */
export function decode(event: { data?: string; data_base64?: string }): string {
  if (event.data !== undefined) return event.data;
  const raw = atob(event.data_base64 ?? "");
  return new TextDecoder().decode(Uint8Array.from(raw, (c) => c.charCodeAt(0)));
}
