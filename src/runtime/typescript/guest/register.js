// Preloaded into Node (-r): makes it run TypeScript, one module at a time, without checking types.
// No frame of ours is on the stack when the program runs: `_compile` is an accessor. It has
// returned before Node calls its result, and the result is Node's own function with another text
// bound to it.
'use strict';
const Module = require('module');
const fs = require('fs');
const path = require('path');

const before = Object.getOwnPropertyDescriptor(Module, 'runMain'); // in a zygote an accessor, see runtime/node/driver.js
const ts = require('./compiler.js')(before.get !== undefined);
const strip = require('./strip.js')(ts);
const translate = require('./translate.js')(ts);
const newer = require('./newer.js');
const EXTENSIONS = ['.ts', '.mts', '.cts', '.tsx'];
const isOurs = (filename) => typeof filename === 'string' && /\.[cm]?tsx?$/.test(filename) &&
  !filename.includes('/node_modules/');

const asModule = (file) => { file.externalModuleIndicator = file.externalModuleIndicator || true; };

// Parses a file. Top-level `await` is a keyword only in modules, so a program that uses it is
// parsed as one.
const parse = (filename, text) => {
  const awaits = /\bawait\b/.test(text);
  const options = { languageVersion: ts.ScriptTarget.ES2022 };
  const file = ts.createSourceFile(filename, text, options, true);
  file.isModule = file.externalModuleIndicator !== undefined;
  if (!awaits || file.isModule) return file;
  const again = ts.createSourceFile(filename, text, { ...options, setExternalModuleIndicator: asModule }, true);
  again.isModule = false;
  return again.parseDiagnostics.length > file.parseDiagnostics.length ? file : again;
};

const awaitsAtTop = (file) => {
  const { SyntaxKind: K } = ts;
  const looksIn = (node) => {
    if (ts.isFunctionLike(node) || node.kind === K.PropertyDeclaration) return false;
    if (node.kind === K.AwaitExpression || (node.kind === K.ForOfStatement && node.awaitModifier)) return true;
    return ts.forEachChild(node, looksIn) || false;
  };
  return looksIn(file);
};

// "main.ts(3,5): error TS1005: ';' expected.", with the line below.
const complaint = (file) => {
  const lines = file.text.split(/\r?\n/);
  return file.parseDiagnostics.slice(0, 20).map((d) => {
    const { line, character } = file.getLineAndCharacterOfPosition(d.start);
    const message = ts.flattenDiagnosticMessageText(d.messageText, '\n');
    const tabs = lines[line].slice(0, character).replace(/[^\t]/g, ' ');
    return `${path.relative(process.cwd(), file.fileName)}(${line + 1},${character + 1}): error TS${d.code}: ${message}\n` +
      `${lines[line]}\n${tabs}${'~'.repeat(Math.max(1, Math.min(d.length, lines[line].length - character)))}\n`;
  }).join('') + newer(ts, file.parseDiagnostics);
};

// A line of base 64 digits, five bits each: the distance of each position from the one before.
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const distance = (n) => {
  let bits = n < 0 ? (-n << 1) | 1 : n << 1;
  let out = '';
  do {
    out += DIGITS[(bits & 31) | (bits > 31 ? 32 : 0)];
    bits >>>= 5;
  } while (bits);
  return out;
};

const mapComment = (filename, text, mappings) => {
  const map = JSON.stringify({ version: 3, sources: [filename], sourcesContent: [text], names: [], mappings });
  return `\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}\n`;
};

// The identity map: every position stays. It exists for the source text, which Node shows above an
// uncaught error.
const MAPPED_MAX = 1 << 18;
const withMap = (filename, text, code) => {
  if (text.length > MAPPED_MAX) return code;
  let before = 0;
  const mappings = text.split('\n').map((line, i) => {
    const first = i === 0 ? 'AAAA' : `AAC${distance(-before)}`;
    before = line.length;
    return first + ',CAAC'.repeat(line.length);
  }).join(';');
  return code + mapComment(filename, text, mappings);
};

// A module that cannot be translated throws when it is loaded, at the place of the error.
const refusal = (file, message, position) => {
  const { line, character } = file.getLineAndCharacterOfPosition(position);
  const mappings = `AA${distance(line)}${distance(character)}`;
  return `throw new SyntaxError(${JSON.stringify(message)});` + mapComment(file.fileName, file.text, mappings);
};

const refuse = (file, isMain) => {
  const text = complaint(file);
  if (isMain) {
    fs.writeSync(2, text);
    process.exit(1);
  }
  return refusal(file, text.trimEnd(), file.parseDiagnostics[0].start);
};

const compiled = (filename, text, isMain) => {
  const file = parse(filename, text);
  if (file.parseDiagnostics.length) return refuse(file, isMain);
  const stripped = strip(file);
  const awaits = stripped ? stripped.awaits : awaitsAtTop(file);
  if (awaits && !isMain)
    return refusal(file, `${path.relative(process.cwd(), filename)} awaits at its top level, which only the main file can: ` +
      'export an async function instead, and await that', 0);
  if (!stripped) return translate(filename, text, awaits);
  return stripped.code === text ? text : withMap(filename, text, stripped.code);
};

// Our own references to Node's modules, because a program may change the ones that it sees.
const { existsSync, readFileSync } = fs;
const compile = Module.prototype._compile;
Object.defineProperty(Module.prototype, '_compile', {
  configurable: true,
  get() {
    if (!isOurs(this.filename)) return compile;
    const text = readFileSync(this.filename, 'utf8').replace(/^\uFEFF/, '');
    const code = compiled(this.filename, text, process.mainModule === this);
    return compile.bind(this, code, this.filename, 'commonjs');
  },
  set(value) {
    Object.defineProperty(this, '_compile', { value, writable: true, enumerable: true, configurable: true });
  },
});
process.setSourceMapsEnabled(true);
for (const extension of EXTENSIONS) Module._extensions[extension] = Module._extensions['.js'];

// Node would load some of these files as ES modules, by their extension or by a package.json. This
// hook cannot do that.
const needsHelp = (main) => {
  if (/\.mts$/.test(main)) return true;
  if (!isOurs(main)) return false;
  for (let dir = path.dirname(main); ; dir = path.dirname(dir)) {
    const file = path.join(dir, 'package.json');
    try {
      if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')).type === 'module';
    } catch {
      return false;
    }
    if (dir === '/') return false;
  }
};
Object.defineProperty(Module, 'runMain', {
  configurable: true,
  enumerable: true,
  get() {
    const run = before.get ? before.get.call(Module) : before.value; // a zygote stays in here; its embryos return
    if (!before.get) Object.defineProperty(Module, 'runMain', before);
    return needsHelp(process.argv[1]) ? Module._load.bind(Module, process.argv[1], null, true) : run;
  },
});

// A zygote has time: it compiles each sample several times so that V8 optimises the compiler. Its
// page probe then does the work of a program.
if (before.get) {
  const samples = require('./samples.js');
  const NAME = path.join(__dirname, 'sample.ts');
  const run = () => {
    const module = new Module(NAME);
    module.filename = NAME;
    module._compile('', NAME);
    needsHelp('/sandbox/main.ts');
  };
  for (let i = 0; i < samples.rounds; i++) {
    for (const text of samples.stripped) compiled(NAME, text, true);
    for (const text of samples.translated) compiled(NAME, text, true);
    run();
  }
  before.get.pageProbe = () => {
    for (const text of samples.stripped) compiled(NAME, text, true);
    run();
  };
}

// Removes our modules from the require.cache that the program sees.
for (const name of Object.keys(require.cache)) delete require.cache[name];

module.exports = { ts, parse, strip, complaint }; // for session.js
