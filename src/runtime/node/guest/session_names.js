// Names in a session: completion, inspection and the list of variables. Nothing here
// has a side effect that V8 can see (throwOnSideEffect).
'use strict';
const Module = require('module');

const MATCHES_MAX = 500;
const VARIABLES_MAX = 500;
const PREVIEW_MAX = 120;
const KEYWORDS = ['async', 'await', 'break', 'case', 'catch', 'class', 'const', 'continue', 'debugger', 'default', 'delete', 'do', 'else',
  'export', 'extends', 'false', 'finally', 'for', 'function', 'if', 'import', 'in', 'instanceof', 'let', 'new', 'null', 'return', 'super',
  'switch', 'this', 'throw', 'true', 'try', 'typeof', 'var', 'void', 'while', 'with', 'yield'];
const NAME = '[\\p{ID_Start}$_][\\p{ID_Continue}$]*';
const CHAIN = `${NAME}(?:\\??\\.${NAME}|\\[\\d+\\]|\\["[^"\\\\]*"\\]|\\['[^'\\\\]*'\\])*`;
const MEMBER = new RegExp(`(${CHAIN}|"[^"\\\\]*"|'[^'\\\\]*'|\\[\\])\\??\\.(#?(?:${NAME})?)$`, 'u');
const GLOBAL = new RegExp(`(${NAME})?$`, 'u');
const MODULE = /(?:\brequire\s*\(|\bfrom|\bimport\s*\(?)\s*(["'])([\w:./@-]*)$/;
const AT_END = new RegExp(`${CHAIN}$`, 'u');
const IS_NAME = new RegExp(`^${NAME}$`, 'u');

let tools; // { post, valueOf, inspect }
let initial; // names that were there before the first cell

const lexicalNames = () => tools.post('Runtime.globalLexicalScopeNames', {}).names || [];

// { value } of an expression, or undefined if it fails or would change something.
const valueOf = (expression) => {
  const reply = tools.post('Runtime.evaluate', { expression, throwOnSideEffect: true, silent: true, objectGroup: 'names' });
  if (!reply || reply.error || reply.exceptionDetails) return undefined;
  const value = tools.valueOf(reply.result);
  tools.post('Runtime.releaseObjectGroup', { objectGroup: 'names' });
  return { value };
};

const kindOf = (value) => {
  if (typeof value !== 'function') return value === null ? 'null' : typeof value;
  return /^class\b/.test(Function.prototype.toString.call(value)) ? 'class' : 'function';
};

// Own names first, then those of the prototypes: Map of name to kind.
const membersOf = (value) => {
  const members = new Map();
  if (value === undefined || value === null) return members;
  for (let at = Object(value); at !== null; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) {
      if (!IS_NAME.test(name) || members.has(name)) continue;
      const found = Object.getOwnPropertyDescriptor(at, name);
      members.set(name, found && 'value' in found ? kindOf(found.value) : 'property');
    }
  }
  return members;
};

const globals = () => {
  const all = membersOf(globalThis);
  for (const name of lexicalNames()) all.set(name, 'variable');
  for (const name of KEYWORDS) all.set(name, 'keyword');
  return all;
};

// Cursors count code points; JavaScript counts in UTF-16.
const before = (text, cursor) => Array.from(text).slice(0, Number.isFinite(cursor) ? cursor : undefined).join('');

const found = (members, start, cursor) => {
  const matches = [];
  for (const [text, type] of members) if (text.startsWith(start) && !text.startsWith('__belljar')) matches.push({ text, type });
  matches.sort((a, b) => (a.text < b.text ? -1 : 1));
  return { matches: matches.slice(0, MATCHES_MAX), from: cursor - Array.from(start).length, to: cursor };
};

const complete = (text, cursor) => {
  const left = before(text, cursor);
  const at = Array.from(left).length;
  const module = MODULE.exec(left);
  if (module) return found(new Map(Module.builtinModules.map((name) => [name, 'module'])), module[2], at);
  const member = MEMBER.exec(left);
  if (member) {
    const base = valueOf(member[1]);
    return found(base ? membersOf(base.value) : new Map(), member[2], at);
  }
  if (/[.\d"'`]$/.test(left)) return found(new Map(), '', at);
  return found(globals(), GLOBAL.exec(left)[1] || '', at);
};

const signatureOf = (f) => {
  const text = Function.prototype.toString.call(f);
  const head = /^(?:async\s+)?(?:function\s*\*?\s*)?(?:[\w$]+)?\s*\([^{]*?\)(?=\s*(?:\{|=>))/.exec(text);
  return head ? `${head[0].replace(/\s+/g, ' ')}` : `${f.name || 'function'}(${f.length} parameters)`;
};

// The name that the cursor stands in or after.
const describe = (text, cursor) => {
  const rest = Array.from(text).slice(cursor).join('');
  const whole = before(text, cursor) + (/^[\p{ID_Continue}$]*/u.exec(rest) || [''])[0];
  const name = AT_END.exec(whole.replace(/\(\s*$/, ''));
  const base = name && valueOf(name[0]);
  if (!base) return { found: false, text: '' };
  const { value } = base;
  const kind = kindOf(value);
  const words = `${name[0]}: ${kind === 'object' && value.constructor ? value.constructor.name : kind}\n${tools.inspect(value)}`;
  if (typeof value !== 'function') return { found: true, text: words };
  const source = Function.prototype.toString.call(value);
  return { found: true, text: words, signature: kind === 'class' ? `class ${value.name}` : signatureOf(value),
    ...(source.includes('[native code]') ? {} : { doc: source.slice(0, 4096) }) };
};

const typeOf = (value) => {
  if (value === null) return 'null';
  if (typeof value !== 'object') return kindOf(value);
  const { constructor } = value;
  return typeof constructor === 'function' && constructor.name ? constructor.name : 'Object';
};

const sizeOf = (value) => {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  if (ArrayBuffer.isView(value)) return value.length === undefined ? value.byteLength : value.length;
  return value instanceof Map || value instanceof Set ? value.size : undefined;
};

const row = (name, get) => {
  try {
    const value = get();
    const preview = tools.inspect(value, { depth: 1, breakLength: Infinity, maxArrayLength: 10, maxStringLength: PREVIEW_MAX });
    const size = sizeOf(value);
    return { name, type: typeOf(value), ...(size === undefined ? {} : { size }),
      preview: preview.length > PREVIEW_MAX ? `${preview.slice(0, PREVIEW_MAX - 1)}…` : preview };
  } catch { // not initialised, or a trap of a proxy
    return { name, type: 'unknown', preview: '' };
  }
};

const variables = () => {
  const lexical = lexicalNames().filter((name) => IS_NAME.test(name) && !KEYWORDS.includes(name));
  const own = Object.getOwnPropertyNames(globalThis).filter((name) => !initial.has(name) && IS_NAME.test(name) && !lexical.includes(name));
  const shown = [...lexical, ...own].sort().slice(0, VARIABLES_MAX);
  const reply = tools.post('Runtime.evaluate', { expression: `[${shown.map((n) => `()=>${n}`).join()}]`, silent: true });
  const getters = reply && reply.result ? tools.valueOf(reply.result) : [];
  return { variables: shown.map((name, i) => row(name, getters[i])), cut: lexical.length + own.length > VARIABLES_MAX };
};

const begin = (given) => {
  tools = given;
  initial = new Set(Object.getOwnPropertyNames(globalThis));
};

module.exports = { begin, complete, describe, variables };
