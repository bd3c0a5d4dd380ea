// A TypeScript session: a JavaScript session (node/guest/session.js) whose cells lose their types
// first. Preloaded (-r). register.js also lets cells require() TypeScript files.
'use strict';
const path = require('path');
const { ts, parse, strip, complaint } = require('./register.js');
const { language } = require('../node/session.js');

// For enums, namespaces, decorators and others that cannot be replaced by blanks.
const transpile = (text, fileName) => ts.transpileModule(text, { fileName, compilerOptions: {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2022,
  jsx: ts.JsxEmit.React,
  experimentalDecorators: parseInt(ts.versionMajorMinor, 10) < 5,
} }).outputText.replace(/^export \{\};\s*$/m, '');

const refuse = (file) => {
  const error = new SyntaxError(ts.flattenDiagnosticMessageText(file.parseDiagnostics[0].messageText, '\n'));
  error.report = complaint(file).trimEnd();
  throw error;
};

language.name = 'TypeScript';
language.translate = (text, name) => {
  const fileName = path.join(process.cwd(), `${name}.ts`);
  // An object, if it can be one: `{a: 1, b: 2}` is no block.
  const asObject = /^\s*\{/.test(text) && !/;\s*$/.test(text) ? parse(fileName, `(${text.trim()}\n)`) : undefined;
  const file = asObject && asObject.parseDiagnostics.length === 0 ? asObject : parse(fileName, text);
  if (file.parseDiagnostics.length) refuse(file);
  const stripped = strip(file, true);
  return stripped ? stripped.code : transpile(file.text, fileName);
};
