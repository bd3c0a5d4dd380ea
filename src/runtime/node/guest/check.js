// Finds the packages and files that programs need and that are missing here. Executes no line of them.
//
//     node check.js FILE...
//
// Prints entries of the report of src/checks/report.c.
'use strict';
const fs = require('fs');
const path = require('path');
const { createRequire, builtinModules } = require('module');
const { tokens } = require('./session_code.js');

const builtIn = new Set(builtinModules);

const tell = (status, name, text) => {
  const [n, t] = [Buffer.from(name).subarray(0, 255), Buffer.from(text).subarray(0, 32768)];
  const head = Buffer.from(`check ${language} imports node ${status} ${n.length} ${t.length}\n`);
  fs.writeSync(1, Buffer.concat([head, n, Buffer.from('\n'), t, Buffer.from('\n')]));
};

const unquote = (literal) => literal.slice(1, -1);

// The literal of `require('x')`, `import('x')`, `import 'x'`, `… from 'x'`; undefined: the token begins no such thing.
const literalAt = (list, i) => {
  const [before, word, next, after] = [list[i - 1], list[i], list[i + 1], list[i + 2]];
  if (word.kind !== 'word' || !next || (before && before.text === '.')) return undefined;
  const call = next.text === '(' && after && after.kind === 'string' ? after : undefined;
  if (word.text === 'require') return call;
  if (word.text === 'import') return next.kind === 'string' ? next : call;
  return word.text === 'from' && next.kind === 'string' && isStatement(list, i) ? next : undefined;
};

// Whether `from` belongs to a statement that begins with import or export, and not to one for types alone.
const isStatement = (list, i) => {
  for (let k = i - 1; k >= 0 && i - k < 400 && !/^[;()=]$/.test(list[k].text); k--) {
    if (list[k].text === 'import' || list[k].text === 'export') {
      return list[k].depth === list[i].depth && list[k + 1].text !== 'type';
    }
  }
  return false;
};

// The depths of the braces of `try`: a failure in there is handled.
const needed = function* (list) {
  const handled = [];
  for (let i = 0; i < list.length; i++) {
    while (handled.length && list[i].depth <= handled[handled.length - 1] && list[i].text === '}') handled.pop();
    if (list[i].text === 'try' && list[i + 1] && list[i + 1].text === '{') handled.push(list[i + 1].depth);
    const literal = handled.length ? undefined : literalAt(list, i);
    if (literal) yield literal;
  }
};

const isHere = (name, from) => {
  const plain = name.replace(/^node:/, '');
  if (builtIn.has(plain) || builtIn.has(plain.split('/')[0])) return true;
  if (/^(?:data|file|https?):/.test(name) || name.startsWith('#')) return true;
  try {
    from.resolve(name);
    return true;
  } catch (e) {
    return e.code !== 'MODULE_NOT_FOUND' || isTypeScript(name, from);
  }
};

// TypeScript resolves './x' and './x.js' to x.ts.
const isTypeScript = (name, from) => name.startsWith('.') && ['.ts', '.tsx', '.mts', '.cts', '.d.ts', '/index.ts'].some((end) => {
  try {
    from.resolve(name.replace(/\.[cm]?jsx?$/, '') + end);
    return true;
  } catch {
    return false;
  }
});

// The words of Node for a missing module.
const complaint = (file, text, literal, name) => {
  const before = text.slice(0, literal.at);
  const line = before.split('\n').length;
  const column = literal.at - before.lastIndexOf('\n');
  return `${file}:${line}\n${text.split('\n')[line - 1]}\n${' '.repeat(column - 1)}^\n\n` +
    `Error: Cannot find module '${name}'\nRequire stack:\n- ${file}\n    at Object.<anonymous> (${file}:${line}:${column})\n`;
};

const check = (name) => {
  const file = path.resolve(name);
  const text = fs.readFileSync(file, 'utf8');
  const from = createRequire(file);
  const seen = new Set();
  for (const literal of needed(tokens(text))) {
    const module = unquote(literal.text);
    if (!seen.has(module) && !isHere(module, from)) tell(1, module, complaint(file, text, literal, module));
    seen.add(module);
  }
};

const language = process.env.CHECK_LANGUAGE || 'javascript';
process.argv.slice(2).forEach(check);
tell(0, '', '');
