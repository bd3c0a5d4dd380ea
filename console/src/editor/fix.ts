// A suggestion of a diagnosis as a change of the text. The API says whether it is a corrected line or a line to write.
export type Action = "replace" | "insert";
/** `expected`: the text of the faulty line when the program ran. */
export type Fix = (line: number, text: string, action?: Action, expected?: string) => void;
export interface Change {
  from: number;
  to: number;
  insert: string;
}

const OPENER = /^(import|from|#include|#pragma|using|use|require|const \w+ = require)\b/;
/** Lines that stand before every import: a shebang, an opening tag, comments. */
const PREAMBLE = /^(#!|<\?php|\/\/|#(?!include|pragma|define|if))/;
const SEARCHED = 200;

/** The number of the line that an inserted line becomes: below lines of its kind, or at the beginning; else at the fault. */
function placeOf(lines: string[], number: number, text: string): number {
  const opener = OPENER.exec(text)?.[1].split(" ")[0];
  if (!opener) return number;
  const kind = /^(from|import)$/.test(opener) ? /^(from|import|package)\b/ : new RegExp(`^(${opener}|package)\\b`);
  let after = 0;
  lines.slice(0, SEARCHED).forEach((line, i) => {
    if (kind.test(line) || (after === i && PREAMBLE.test(line))) after = i + 1;
  });
  return after + 1;
}

const indentOf = (line: string) => /^\s*/.exec(line)![0];

/** Null: the text was changed since, and has no such line any more. */
export function fixOf(code: string, number: number, text: string, action: Action = "replace", expected = ""): Change | null {
  const lines = code.split("\n");
  if (number < 1 || number > lines.length) return null;
  if (!lines[number - 1].trim().startsWith(expected.trim().slice(0, 60))) return null;
  const startOf = (n: number) => lines.slice(0, n - 1).reduce((sum, line) => sum + line.length + 1, 0);
  if (action === "replace") {
    const line = lines[number - 1];
    const from = startOf(number);
    return { from, to: from + line.length, insert: /^\s/.test(text) ? text : indentOf(line) + text };
  }
  const at = placeOf(lines, number, text);
  if (at > lines.length) return { from: code.length, to: code.length, insert: `\n${text}` };
  const from = startOf(at);
  return { from, to: from, insert: `${at === number ? indentOf(lines[number - 1]) : ""}${text.trimStart()}\n` };
}
