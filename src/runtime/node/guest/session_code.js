// Rewrites the import and export statements of a cell. The inspector evaluates scripts, which have
// none: `import x from 'm'` becomes `const {default: x} = await IMPORT('m')`, and import(…) becomes
// IMPORT(…). Every line stays where it is.
'use strict';
const IMPORT = '__belljar_import';

// Words after which a slash begins a regular expression.
const BEFORE_EXPRESSION = new Set(['return', 'typeof', 'instanceof', 'in', 'of', 'new', 'delete', 'void', 'throw', 'case', 'do', 'else',
  'await', 'yield']);
const SPACE = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)+/y;
const WORD = /[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy;
const STRING = /"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'/y;
const NUMBER = /\.?\d(?:[\w.]|[eE][+-])*/y;
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;

// The tokens of a text, without blanks: { kind, text, at, depth }. Templates are one token for each
// piece of text. Not exact for every slash, which does no harm: the words that matter are rare.
const tokens = (text) => {
  const list = [];
  const templates = []; // depth of the brace that ends each ${…}
  let depth = 0;
  let at = 0;
  const match = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    return found && found[0];
  };
  const add = (kind, piece) => {
    list.push({ kind, text: piece, at, depth });
    at += piece.length;
  };
  const template = () => {
    let i = at + 1;
    while (i < text.length && text[i] !== '`' && !text.startsWith('${', i)) i += text[i] === '\\' ? 2 : 1;
    if (text.startsWith('${', i)) {
      templates.push(depth++);
      i++;
    }
    add('template', text.slice(at, i + 1));
  };
  const expressionEnds = () => {
    const last = list[list.length - 1];
    if (!last) return false;
    if (last.kind === 'word') return !BEFORE_EXPRESSION.has(last.text);
    return last.kind !== 'sign' || /[)\]}]/.test(last.text);
  };
  while (at < text.length) {
    const blank = match(SPACE);
    if (blank) {
      at += blank.length;
      continue;
    }
    const c = text[at];
    if (c === '`') template();
    else if (c === '}' && templates[templates.length - 1] === depth - 1) {
      depth = templates.pop();
      template();
    } else if (match(WORD)) add('word', match(WORD));
    else if (match(STRING)) add('string', match(STRING));
    else if (match(NUMBER)) add('number', match(NUMBER));
    else if (c === '/' && !expressionEnds() && match(REGEX)) add('regex', match(REGEX));
    else {
      if (/[)\]}]/.test(c)) depth--;
      add('sign', c);
      if (/[([{]/.test(c)) depth++;
    }
  }
  return list;
};

const newlines = (text) => text.replace(/[^\n]/g, '');

// The names of an import clause as a pattern: `a, {b as c}` or `* as n`. Names of types are left
// out.
const importCall = (list, from, to, specifier, options) => {
  const call = `await ${IMPORT}(${specifier}${options ? `, {assert: ${options}, with: ${options}}` : ''})`;
  const fields = [];
  let namespace;
  for (let i = from; i < to;) {
    const [a, b, c] = [list[i], list[i + 1], list[i + 2]].map((t) => (t ? t.text : ''));
    if (a === '*') {
      namespace = c;
      i += 3;
    } else if (/^[{},]$/.test(a)) {
      i++;
    } else if (a === 'type' && list[i].depth > list[from].depth && !/^[,}]$/.test(b) && b !== 'as') {
      i += list[i + 2].text === 'as' ? 4 : 2;
    } else if (b === 'as') {
      fields.push(`${a}: ${c}`);
      i += 3;
    } else {
      fields.push(list[i].depth > list[from].depth ? a : `default: ${a}`);
      i++;
    }
  }
  if (namespace === undefined) return fields.length ? `const {${fields.join(', ')}} = ${call};` : `${call};`;
  return `const ${namespace} = ${call};${fields.length ? `const {${fields.join(', ')}} = ${namespace};` : ''}`;
};

// The statement that begins with list[i], `import`: { end: index of the next token, code }.
const importStatement = (text, list, i) => {
  let j = i + 1;
  while (j < list.length && list[j].kind !== 'string') {
    if (list[j].text === ';' || list[j].text === '=' || list[j].text === '(') return undefined;
    j++;
  }
  const specifier = list[j];
  if (!specifier || (j > i + 1 && list[j - 1].text !== 'from')) return undefined;
  const typeOnly = list[i + 1].text === 'type' && list[i + 2].text !== 'from' && list[i + 2].text !== ',';
  let next = j + 1;
  let options = '';
  if (list[next] && /^(?:with|assert)$/.test(list[next].text) && list[next + 1] && list[next + 1].text === '{') {
    const first = next + 1;
    for (next = first + 1; list[next] && list[next].depth > list[first].depth;) next++;
    if (!list[next]) return undefined;
    options = text.slice(list[first].at, list[next].at + 1);
    next++;
  }
  if (list[next] && list[next].text === ';') next++;
  const names = j > i + 1 ? j - 1 : j;
  return { end: next, code: typeOnly ? '' : importCall(list, i + 1, names, specifier.text, options) };
};

const rewrite = (text) => {
  if (!/\b(?:import|export)\b/.test(text)) return text;
  const list = tokens(text);
  let result = '';
  let done = 0; // bytes of text
  const replace = (from, to, by) => {
    result += text.slice(done, from) + by + newlines(text.slice(from, to));
    done = to;
  };
  for (let i = 0; i < list.length; i++) {
    const { kind, text: word, at, depth } = list[i];
    const next = list[i + 1];
    const isMember = i > 0 && list[i - 1].text === '.';
    if (kind !== 'word' || isMember || !next) continue;
    if (word === 'import' && next.text === '(') {
      replace(at, at + word.length, IMPORT);
    } else if (word === 'import' && depth === 0 && next.kind === 'word' && list[i + 2] && list[i + 2].text === '=') {
      replace(at, at + word.length, 'const'); // import x = require('m'), in TypeScript
    } else if (word === 'import' && depth === 0 && (/^[{*]$/.test(next.text) || next.kind === 'word' || next.kind === 'string')) {
      const found = importStatement(text, list, i);
      if (!found) continue;
      const last = list[found.end - 1];
      replace(at, last.at + last.text.length, found.code);
      i = found.end - 1;
    } else if (word === 'export' && depth === 0 && /^(?:const|let|var|function|class|async|default|abstract|enum|interface|type|namespace|declare)$/.test(next.text)) {
      const isDefault = next.text === 'default';
      replace(at, isDefault ? next.at + next.text.length : at + word.length, '');
    }
  }
  return result + text.slice(done);
};

module.exports = { IMPORT, rewrite, tokens };
