// Checks the types of a program: `node check.js main.ts [FILE...]`. Errors go to stderr in the compiler's
// words, and the exit status is 1. Strict as after `tsc --init`, unless a tsconfig.json lies beside
// the program.
'use strict';
const fs = require('fs');
const path = require('path');
const { builtinModules } = require('module');
const ts = require('./compiler.js')();
const newer = require('./newer.js');

const SHOWN_MAX = 100;
// Errors about features that register.js supports: top-level await, import.meta, imports that end
// in .ts, import attributes.
const ALLOWED = new Set([1343, 1375, 1378, 1432, 2691, 2823, 5097]);
const TYPES = ['/usr/local/lib/node_modules/@types', '/usr/lib/node_modules/@types', '/usr/share/nodejs/@types'];
// The type of a module that has no types.
const UNKNOWN_TYPE = 2709;
const types = TYPES.find((dir) => fs.existsSync(path.join(dir, 'node/index.d.ts')));

// Without @types/node, Node's names are declared without types.
const NODE = '/belljar/node.d.ts';
const NODE_TEXT = ['process', 'Buffer', 'require', 'module', 'exports', 'global'].map((n) => `declare var ${n}: any;\n`).join('') +
  'declare var __dirname: string;\ndeclare var __filename: string;\n' +
  'declare function setImmediate(f: (...args: any[]) => void, ...args: any[]): any;\n' +
  'declare function clearImmediate(x: any): void;\n' +
  'declare namespace NodeJS { type Timeout = any; type ErrnoException = any; type CallSite = any; type ProcessEnv = any; }\n' +
  'type Buffer = any;\n' +
  builtinModules.map((m) => `declare module '${m}';\ndeclare module 'node:${m}';\n`).join('');

// Type libraries for the features of this Node.
const LIBRARIES = [
  'lib.es2022.d.ts',
  'lib.dom.d.ts',
  ...(Array.prototype.toSorted ? ['lib.es2023.d.ts'] : []),
  ...(Symbol.dispose ? ['lib.esnext.disposable.d.ts'] : []),
];

const asked = (dir) => {
  const file = path.join(dir, 'tsconfig.json');
  if (!fs.existsSync(file)) return {};
  const { config, error } = ts.readConfigFile(file, ts.sys.readFile);
  if (error) return {};
  return ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, dir).options;
};

const mains = process.argv.slice(2).map((f) => path.resolve(f));
const options = {
  strict: true,
  target: ts.ScriptTarget.ES2022,
  lib: LIBRARIES.filter((f) => fs.existsSync(path.join(path.dirname(ts.sys.getExecutingFilePath()), f))),
  esModuleInterop: true,
  resolveJsonModule: true,
  experimentalDecorators: parseInt(ts.versionMajorMinor, 10) < 5,
  jsx: ts.JsxEmit.React,
  ...asked(path.dirname(mains[0])),
  module: ts.ModuleKind.CommonJS,
  moduleResolution: ts.ModuleResolutionKind.NodeJs || ts.ModuleResolutionKind.Node10,
  moduleDetection: ts.ModuleDetectionKind ? ts.ModuleDetectionKind.Force : undefined,
  skipLibCheck: true,
  noEmit: true,
  ignoreDeprecations: undefined,
  types: types ? ['node'] : [],
  typeRoots: types ? [types] : undefined,
};

const host = ts.createCompilerHost(options);
const { fileExists, readFile, getSourceFile } = host;
host.fileExists = (f) => f === NODE || fileExists.call(host, f);
host.readFile = (f) => (f === NODE ? NODE_TEXT : readFile.call(host, f));
host.getSourceFile = (f, ...rest) =>
  (f === NODE ? ts.createSourceFile(f, NODE_TEXT, options.target) : getSourceFile.call(host, f, ...rest));

const program = ts.createProgram(types ? mains : [NODE, ...mains], options, host);
if (!types) ALLOWED.add(UNKNOWN_TYPE);
const found = ts.getPreEmitDiagnostics(program).filter((d) => d.category === ts.DiagnosticCategory.Error && !ALLOWED.has(d.code));

const line = (d) => {
  const message = `error TS${d.code}: ${ts.flattenDiagnosticMessageText(d.messageText, '\n')}`;
  if (!d.file) return message;
  const at = d.file.getLineAndCharacterOfPosition(d.start);
  return `${path.relative(process.cwd(), d.file.fileName)}(${at.line + 1},${at.character + 1}): ${message}`;
};
for (const d of found.slice(0, SHOWN_MAX)) fs.writeSync(2, line(d) + '\n');
if (found.length > SHOWN_MAX) fs.writeSync(2, `… and ${found.length - SHOWN_MAX} more errors\n`);
const note = newer(ts, found);
if (note) fs.writeSync(2, note);
process.exitCode = found.length ? 1 : 0;
