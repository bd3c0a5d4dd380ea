// Syntax that an older compiler does not know. Finds the feature behind a syntax error. Debian's
// compiler is from 2022.
'use strict';

// `here` is matched at the place of the error, `line` against its whole line.
const NEWER = [
  { since: '4.9', what: '`satisfies`', here: /^satisfies\b/ },
  { since: '4.9', what: 'an `accessor` field', line: /(?:^|[{;]|\b(?:static|public|private|protected|override))\s*accessor\s+[\w$#[]/ },
  { since: '5.0', what: 'a `const` type parameter', here: /^const\s+[\w$]/, line: /<\s*(?:[^<>]*,\s*)?const\s+[\w$]/ },
  { since: '5.2', what: '`using`', line: /^\s*(?:for\s*\()?(?:await\s+)?using\s+[\w$]/ },
  { since: '5.3', what: '`with` after an import', here: /^(?:with\b|\{)/, line: /['"]\s*with\s*\{/ },
];

const isBefore = (a, b) => {
  const [x, y] = [a, b].map((v) => v.split('.').map(Number));
  return x[0] < y[0] || (x[0] === y[0] && x[1] < y[1]);
};

// Returns a line to print after the errors, or ''.
module.exports = (ts, errors) => {
  for (const { file, start } of errors) {
    if (!file) continue;
    const { text } = file;
    const from = text.lastIndexOf('\n', start - 1) + 1;
    const line = text.slice(from).split('\n', 1)[0];
    const found = NEWER.find((n) => isBefore(ts.versionMajorMinor, n.since) && (!n.here || n.here.test(text.slice(start, start + 80))) &&
      (!n.line || n.line.test(line)));
    if (found)
      return `note: ${found.what} needs TypeScript ${found.since}, and this machine has ${ts.version}: npm install -g typescript@5 brings a newer one\n`;
  }
  return '';
};
