// The grammar of a language is loaded when it is first used.
import type { Extension } from "@codemirror/state";
import { StreamLanguage } from "@codemirror/language";

const legacy = (module: Promise<Record<string, unknown>>, name: string) =>
  module.then((m) => StreamLanguage.define(m[name] as Parameters<typeof StreamLanguage.define>[0]));

const shell = () => legacy(import("@codemirror/legacy-modes/mode/shell"), "shell");
const GRAMMARS: Record<string, () => Promise<Extension>> = {
  python: async () => (await import("@codemirror/lang-python")).python(),
  javascript: async () => (await import("@codemirror/lang-javascript")).javascript(),
  typescript: async () => (await import("@codemirror/lang-javascript")).javascript({ typescript: true }),
  c: async () => (await import("@codemirror/lang-cpp")).cpp(),
  cpp: async () => (await import("@codemirror/lang-cpp")).cpp(),
  rust: async () => (await import("@codemirror/lang-rust")).rust(),
  java: async () => (await import("@codemirror/lang-java")).java(),
  go: async () => (await import("@codemirror/lang-go")).go(),
  php: async () => (await import("@codemirror/lang-php")).php({ plain: false }),
  sqlite: async () => (await import("@codemirror/lang-sql")).sql(),
  postgres: async () => (await import("@codemirror/lang-sql")).sql(),
  bash: shell,
  zsh: shell,
  sh: shell,
  ruby: () => legacy(import("@codemirror/legacy-modes/mode/ruby"), "ruby"),
  perl: () => legacy(import("@codemirror/legacy-modes/mode/perl"), "perl"),
  lua: () => legacy(import("@codemirror/legacy-modes/mode/lua"), "lua"),
  r: () => legacy(import("@codemirror/legacy-modes/mode/r"), "r"),
};

const made = new Map<string, Promise<Extension>>();

export function grammar(language: string): Promise<Extension> {
  let found = made.get(language);
  if (!found) {
    found = (GRAMMARS[language] ?? (async () => []))();
    made.set(language, found);
  }
  return found;
}

/** A guess for the colours of the editor, and to show before a run. The service decides by itself. */
const SIGNS: [string, RegExp][] = [
  ["php", /^\s*<\?php/],
  ["rust", /^\s*(?:fn main\(|use std::|#\[derive)/m],
  ["go", /^package \w+/m],
  ["java", /\bpublic\s+(?:static\s+void\s+main|class\s+\w+)/],
  ["cpp", /^#include\s*<(?:iostream|vector|string|map|algorithm|bits\/stdc\+\+\.h)>|\bstd::/m],
  ["c", /^#include\s*<\w+\.h>/m],
  ["typescript", /^\s*(?:interface \w+|type \w+ =|(?:const|let) \w+: \w+|import type )|\): (?:string|number|void|boolean)\b/m],
  ["sqlite", /^\s*(?:select\b|create table\b|insert into\b|with \w+ as\b|pragma\b)/i],
  ["python", /^(?:def \w+\(.*\)|class \w+.*|if .+|for .+ in .+|while .+|with .+):\s*(?:#.*)?$|^(?:import|from) \w[\w.]*|\bprint\(/m],
  ["javascript", /\bconsole\.\w+\(|\b(?:const|let|var) \w+\s*=|=>|\brequire\(|^import .+ from ['"]/m],
  ["ruby", /^\s*(?:puts |require '|def \w+[^:]*$|end$)/m],
  ["perl", /^\s*(?:use strict|my [$@%]\w+)/m],
  ["lua", /^\s*local \w+\s*=|\bthen$/m],
  ["r", /<-\s*(?:c\(|function\()|^library\(/m],
  ["bash", /^\s*(?:echo |if \[|for \w+ in |export \w+=|set -e|ls\b|cat |grep )|\$\(|\bfi$/m],
];

export function guess(code: string): string {
  const head = code.slice(0, 4000);
  const bang = /^#!\s*\S*?(?:\/env\s+(?:-S\s+)?)?(?:\/?\w+\/)*(\w+)/.exec(head);
  if (bang) {
    const names: Record<string, string> = { node: "javascript", python3: "python", sh: "bash", Rscript: "r" };
    return names[bang[1]] ?? bang[1];
  }
  return SIGNS.find(([, sign]) => sign.test(head))?.[0] ?? "";
}
