// A JavaScript session: runs the cells that arrive on the channel (src/runtime/README.md,
// "Sessions"). V8's inspector evaluates them, because its mode for consoles allows top-level await
// and the redeclaration of const, let and class. session.node (session.c) sends frames and
// interrupts.
'use strict';
const { Session } = require('inspector');
const { Console } = require('console');
const Module = require('module');
const { writeSync } = require('fs');
const path = require('path');
const util = require('util');
const code = require('./session_code.js');
const images = require('./session_image.js');
const names = require('./session_names.js');
const output = require('./session_output.js');

const native = { exports: {} };
process.dlopen(native, path.join(__dirname, 'session.node'));
const driver = native.exports;
// Our own references, because a program may replace the global ones.
const { Buffer } = require('buffer');
const { concat } = Buffer;

const FROM_HOST = { EXEC: 1, INPUT: 2, COMPLETE: 3, INSPECT: 4, VARIABLES: 5, END: 6, IMAGE: 7, BECOME: 8 };
const TAG = { CODE: 1, FLAGS: 2, TEXT: 3, CURSOR: 5, ROOM: 21 };
const DEPTH = { showProxy: true };

// Replaced by a language that is translated to JavaScript (typescript/guest/session.js): text to
// text, or throws a SyntaxError with `report`, its words.
const language = { name: 'JavaScript', translate: (text) => text };

const inspector = new Session();
let out; // session_output.js
let image; // session_image.js
let cell; // the open one: { request, silent, number }
let count = 0;
let shown; // the cell's output, for a guest that asks
const last = { value: undefined, error: undefined, valueIsOurs: true, errorIsOurs: true };

// ---- values ----

// The inspector names a value. The sink, called through the inspector with that name, gets it.
let sinkId;
let taken;
const post = (method, parameters) => {
  let answer;
  inspector.post(method, parameters, (error, reply) => { answer = error ? { error } : reply; });
  return answer;
};
const valueOf = (remote) => {
  if (remote.objectId === undefined) {
    const { unserializableValue: text } = remote;
    if (text === undefined) return remote.value;
    return text.endsWith('n') ? BigInt(text.slice(0, -1)) : Number(text);
  }
  taken = undefined;
  post('Runtime.callFunctionOn', { objectId: sinkId, functionDeclaration: 'function(v){this(v)}', silent: true,
    arguments: [{ objectId: remote.objectId }] });
  const value = taken;
  taken = undefined;
  return value;
};

// A hook or a getter of the value may fail, or even two.
const { inspect: show } = util;
const inspect = (value, options) => {
  for (const customInspect of [true, false]) {
    try {
      return show(value, { ...DEPTH, ...options, customInspect });
    } catch { /* the next one */ }
  }
  return `[${typeof value} that cannot be shown]`;
};

// Removes our frames, and those below them, from each stack in a text.
const OURS = new RegExp(`^\\s+at .*(?:node:inspector:|${__dirname.replace(/\W/g, '\\$&')}/)`);
const cleaned = (text) => {
  let below = false;
  return text.split('\n').filter((line) => {
    if (!/^\s+at /.test(line)) below = false;
    else if (OURS.test(line)) below = true;
    return !below;
  }).join('\n').replace(/( \{)?\n\s*\}$/, (whole, open) => (open ? '' : whole));
};

const property = (value, name) => {
  try {
    return value[name];
  } catch {
    return undefined;
  }
};

// The words of anything that was thrown: { name, message, traceback }.
const describeError = (error, excerpt = '') => {
  const isError = util.types.isNativeError(error) || (typeof error === 'object' && error instanceof Error);
  if (!isError) {
    const text = inspect(error);
    return { name: 'Uncaught', message: text, traceback: `Uncaught ${text}` };
  }
  const message = property(error, 'message');
  const name = property(error, 'name');
  return {
    name: typeof name === 'string' && name ? name : 'Error',
    message: typeof message === 'string' ? message : inspect(message),
    traceback: `${excerpt}Uncaught ${cleaned(inspect(error))}`,
  };
};

// The line of a syntax error with a caret, as Node shows it.
const excerptOf = (text, details, number, shift) => {
  const line = text.split('\n')[details.lineNumber];
  if (line === undefined) return '';
  const column = Math.max(0, details.columnNumber - (details.lineNumber === 0 ? shift : 0));
  return `cell-${number}:${details.lineNumber + 1}\n${line}\n${' '.repeat(column)}^\n\n`;
};

// ---- cells ----

// An interrupt before disarm() leaves the cell open, and is reported. Afterwards there is none.
const end = (status) => {
  driver.disarm();
  const { request, number } = cell;
  cell = undefined;
  out.done(request, status, number);
};

const interrupted = () => {
  out.error(cell.request, { name: 'KeyboardInterrupt', message: 'the cell was interrupted', traceback: 'KeyboardInterrupt: the cell was interrupted' });
  end('interrupted');
};

// From the event loop, if the interrupt met no JavaScript, or one that was not in driver.guard().
const onInterrupt = () => {
  asyncIds.clear();
  if (cell) interrupted();
};

const fail = (error, excerpt) => {
  if (last.errorIsOurs) last.error = error;
  out.error(cell.request, describeError(error, excerpt));
  end('error');
};

const succeed = (value) => {
  if (last.valueIsOurs) last.value = value;
  if (value !== undefined && !cell.silent) out.result(cell.request, cell.number, value);
  end('ok');
};

const evaluate = (expression, number, then) =>
  inspector.post('Runtime.evaluate', { expression: `${expression}\n//# sourceURL=cell-${number}`, replMode: true, awaitPromise: true,
    silent: true, objectGroup: 'cell' }, then);

// `{a: 1}` is an object, as in Node's REPL: if it is no expression, it is a block.
const isSyntaxError = (reply) => reply.exceptionDetails && reply.exceptionDetails.exception &&
  reply.exceptionDetails.exception.className === 'SyntaxError' && !/\n\s+at cell-/.test(reply.exceptionDetails.exception.description);

// Our own code needs some builtins. If a program has broken them, the session says so and ends.
const { reallyExit } = process;
const orEnd = (f) => {
  try {
    return f();
  } catch (error) {
    writeSync(2, `the session ended, because its own code failed; did the program replace a builtin? ${error}\n`);
    return reallyExit.call(process, 70);
  }
};

const run = (mine, text) => {
  let plain;
  try {
    plain = language.translate(code.rewrite(text), `cell-${mine.number}`);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    last.error = last.errorIsOurs ? error : last.error;
    out.error(mine.request, { name: 'SyntaxError', message: error.message, traceback: error.report || `Uncaught SyntaxError: ${error.message}` });
    return end('error');
  }
  const settle = (error, reply, wrapped) => orEnd(() => {
    if (cell !== mine) return undefined; // it was interrupted
    if (wrapped && reply && isSyntaxError(reply)) return evaluate(plain, mine.number, (e, r) => settle(e, r, false));
    if (error) return fail(new Error(error.message));
    const { exceptionDetails: details } = reply;
    const value = valueOf(details && details.exception ? details.exception : reply.result);
    inspector.post('Runtime.releaseObjectGroup', { objectGroup: 'cell' });
    if (!details) return succeed(value);
    return fail(value, isSyntaxError(reply) ? excerptOf(text, details, mine.number, 0) : '');
  });
  const wrapped = /^\s*\{/.test(plain) && !/;\s*$/.test(plain);
  return evaluate(wrapped ? `(${plain.trim()}\n)` : plain, mine.number, (e, r) => settle(e, r, wrapped));
};

// Runs f, which opens a request and may end it at once.
const open = (request, silent, f) => {
  cell = { request, silent, number: silent ? count : ++count };
  const mine = cell;
  driver.arm();
  if (driver.guard(() => orEnd(f)) && cell === mine) interrupted();
};

const answer = (request, make) => open(request, true, () => {
  let result;
  try {
    result = make();
  } catch (error) {
    return fail(error);
  }
  out.answer(request, result);
  return end('ok');
});

// ---- the environment of a program ----

// Node checks on each return from a callback that the stack of asynchronous operations is even. An
// interrupt leaves it uneven, so the check is off, and the stack is emptied afterwards.
const asyncIds = { clear: () => {} };
const quietly = (f) => {
  const before = process.noDeprecation;
  process.noDeprecation = true;
  try {
    return f();
  } finally {
    process.noDeprecation = before;
  }
};
const allowUnevenStack = () => {
  const wrap = quietly(() => process.binding('async_wrap'));
  wrap.async_hook_fields[wrap.constants.kCheck] = 0;
  asyncIds.clear = wrap.clearAsyncIdStack;
};

const define = (name, value) =>
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });

// `_` and `_error`, until the program assigns to them.
const defineLast = (name, key, flag) => Object.defineProperty(globalThis, name, {
  configurable: true,
  get: () => last[key],
  set: (value) => {
    last[flag] = false;
    last[key] = value;
  },
});

const defineModules = () => {
  for (const name of Module.builtinModules) {
    if (name.startsWith('_') || name.includes('/') || name in globalThis) continue;
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get: () => {
        const value = Module._load(name);
        define(name, value);
        return value;
      },
      set: (value) => define(name, value),
    });
  }
};

// Output is written before write() returns, so that it comes before the next frame. Node's stream
// would wait forever for the end of a write that an interrupt ended.
const writeAtOnce = (stream) => {
  const { fd } = stream;
  const slow = stream.write;
  if (stream._handle && stream._handle.setBlocking) stream._handle.setBlocking(true);
  const write = (chunk, encoding, then) => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return slow.call(stream, chunk, encoding, then);
    const data = typeof chunk === 'string' ? Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8') : chunk;
    try {
      for (let at = 0; at < data.length;) at += writeSync(fd, data, at);
    } catch { /* nobody reads */ }
    const callback = typeof encoding === 'function' ? encoding : then;
    if (typeof callback === 'function') process.nextTick(callback);
    return true;
  };
  Object.defineProperty(stream, 'write', { value: write, writable: true, configurable: true, enumerable: false });
};

const defineGlobals = () => {
  const file = path.join(process.cwd(), 'cell.js');
  const module = new Module(file);
  module.filename = file;
  module.paths = Module._nodeModulePaths(process.cwd());
  // Compiled as a file of the working directory, so that import() finds modules from there.
  const imports = new Module(file);
  imports.filename = file;
  imports._compile('module.exports = (...a) => a.length > 1 ? import(a[0], a[1]) : import(a[0])', file);
  define('require', Module.createRequire(file));
  define('module', module);
  define('exports', module.exports);
  define('display', shown);
  define(code.IMPORT, imports.exports);
  defineLast('_', 'value', 'valueIsOurs');
  defineLast('_error', 'error', 'errorIsOurs');
  defineModules();
  writeAtOnce(process.stdout);
  writeAtOnce(process.stderr);
  // Node's own console also tells the inspector, which keeps the values.
  const ours = new Console({ stdout: process.stdout, stderr: process.stderr });
  for (const name of Object.keys(console)) if (!(name in ours)) ours[name] = console[name];
  define('console', ours);
};

const surviveErrors = () => {
  process.setUncaughtExceptionCaptureCallback((error) => {
    if (process.listenerCount('uncaughtException') > 0) return process.emit('uncaughtException', error, 'uncaughtException');
    return process.stderr.write(describeError(error).traceback + '\n');
  });
  process.on('exit', (status) => {
    if (!cell) return;
    out.note(cell.request, `the program ended the session with process.exit(${status})`);
    end(status === 0 ? 'ok' : 'error');
  });
};

// ---- the channel ----

const ready = () => out.ready(`${language.name}, Node ${process.version.slice(1)}`);
const wordsOf = (fields) => (fields.get(TAG.FLAGS) || '').split(' ');

// To a request for an image. A process that became one is a session that has just started.
const reply = (request, result) => {
  if (result === undefined) return ready();
  out.answer(request, result);
  return out.done(request, 'ok', count);
};

const handlers = {
  [FROM_HOST.EXEC]: (request, fields) => {
    const silent = wordsOf(fields).includes('silent');
    open(request, silent, () => run(cell, fields.get(TAG.CODE) || ''));
  },
  [FROM_HOST.INPUT]: () => {}, // stdin is at its end: no cell asks
  [FROM_HOST.COMPLETE]: (request, fields) => answer(request, () => names.complete(fields.get(TAG.CODE) || '', Number(fields.get(TAG.CURSOR)))),
  [FROM_HOST.INSPECT]: (request, fields) => answer(request, () => names.describe(fields.get(TAG.CODE) || '', Number(fields.get(TAG.CURSOR)))),
  [FROM_HOST.VARIABLES]: (request) => answer(request, () => names.variables()),
  [FROM_HOST.END]: () => process.reallyExit(0),
  [FROM_HOST.IMAGE]: (request, fields, fds) => orEnd(() => reply(request, image.write(fds, Number(fields.get(TAG.ROOM)), wordsOf(fields)))),
  [FROM_HOST.BECOME]: (request, fields, fds) => orEnd(() => reply(request, image.become(fds, wordsOf(fields)))),
};

const readFields = (data) => {
  const fields = new Map();
  for (let at = 0; at + 8 <= data.length;) {
    const length = data.readUInt32LE(at + 4);
    fields.set(data.readUInt16LE(at), data.toString('utf8', at + 8, at + 8 + length));
    at += 8 + length;
  }
  return fields;
};

const readFrames = () => {
  let parts = [];
  let received = []; // descriptors: all come with one frame
  return (frame, fds) => {
    if (frame === undefined) process.reallyExit(0); // the host is gone
    parts[parts.length] = frame.subarray(12);
    if (fds.length > 0) received = fds;
    if (frame.readUInt16LE(10) & 1) return;
    const data = parts.length === 1 ? parts[0] : concat(parts);
    const descriptors = received;
    parts = [];
    received = [];
    const handler = handlers[frame.readUInt16LE(8)];
    if (!handler) process.reallyExit(1);
    handler(frame.readUInt32LE(4), readFields(data), descriptors);
  };
};

const connect = () => {
  inspector.connect();
  const key = Symbol('sink');
  globalThis[key] = (value) => { taken = value; };
  sinkId = post('Runtime.evaluate', { expression: `globalThis[Object.getOwnPropertySymbols(globalThis).find((s) => s.description === 'sink')]` }).result.objectId;
  delete globalThis[key];
};

const begin = () => {
  driver.channel();
  out = output.make({ send: driver.send, inspect });
  image = images.make({ driver, inspector, post });
  shown = out.display(() => (cell ? cell.request : 0));
  for (const name of Object.keys(require.cache)) delete require.cache[name];
  connect();
  defineGlobals();
  names.begin({ post, valueOf, inspect });
  surviveErrors();
  allowUnevenStack();
  driver.begin(onInterrupt);
  driver.listen(readFrames());
  ready();
};

module.exports = { begin, language };
