// Preloaded into Node (-r) on request: a program that fails tells the values of its variables
// (spec/job.h: JOB_VALUES). V8's debugger stops at an error that nothing catches, and this file reads
// the variables that the failing line and the line of its caller name. The debugger slows down
// `await`, `eval` and `throw`, so it is there only on request.
//
// No code of the program runs for it: no getter, no proxy, no toString(). Functions of the language are
// kept here before the program can replace them. All of it is bounded, and a program that throws often
// is looked at a few times.
'use strict';
const { isMainThread } = require('worker_threads');

const LOOKS_MAX = 20, NAMES_MAX = 10, ITEMS = 6, SCRIPTS_MAX = 1000, LINE_SEEN = 2000, DEEP = 2, TEXT = 160, INSIDE = 48, PREVIEW = 360, NAME = 72;
const FILE = '.belljar-whereabouts';

const bind = (f) => Function.prototype.call.bind(f);
const { getOwnPropertyDescriptor, getPrototypeOf, keys, defineProperty, isExtensible } = Object;
const { isArray } = Array;
const ownKeys = Reflect.ownKeys;
const { isProxy, isDate, isMap, isSet, isTypedArray, isPromise, isNativeError } = require('util').types;
const charCode = bind(String.prototype.charCodeAt), slice = bind(String.prototype.slice), dateTime = bind(Date.prototype.getTime);
const iso = bind(Date.prototype.toISOString), bigText = bind(BigInt.prototype.toString), symbolText = bind(Symbol.prototype.toString);
const numberText = bind(Number.prototype.toString), toLower = bind(String.prototype.toLowerCase);
const getter = (prototype, name) => bind(getOwnPropertyDescriptor(prototype, name).get);
const mapSize = getter(Map.prototype, 'size'), setSize = getter(Set.prototype, 'size');
const TypedArray = getPrototypeOf(Uint8Array.prototype);
const typedLength = getter(TypedArray, 'length'), typedTag = getter(TypedArray, Symbol.toStringTag);
const mapEntries = bind(Map.prototype.entries), setValues = bind(Set.prototype.values);
const mapNext = bind(getPrototypeOf(new Map().entries()).next), setNext = bind(getPrototypeOf(new Set().values()).next);
const { is } = Object;

// ---- texts, without regular expressions: a program can replace RegExp.prototype.exec ----

const isLetter = (c) => (c >= 97 && c <= 122) || (c >= 65 && c <= 90);
const isUpper = (c) => c >= 65 && c <= 90;
const isWord = (c) => isLetter(c) || (c >= 48 && c <= 57) || c === 95 || c === 36 || c > 127;
const has = bind(String.prototype.includes), begins = bind(String.prototype.startsWith), find = bind(String.prototype.indexOf);
const among = (list, word) => {
  for (let i = 0; i < list.length; i++) if (list[i] === word) return true;
  return false;
};

// The line of a text, which counts from 0.
const lineOf = (text, number) => {
  let from = 0;
  for (let i = 0; i < number; i++) {
    from = find(text, '\n', from) + 1;
    if (from === 0) return '';
  }
  const end = find(text, '\n', from);
  return slice(text, from, end < 0 ? text.length : end);
};

// ---- names of secrets: the rule of base/secret_name.c ----

const PARTS = ['password', 'passwd', 'passphrase', 'secret', 'token', 'credential', 'apikey', 'privatekey', 'accesskey',
  'authorization', 'bearer', 'cookie', 'sessionid', 'connectionstring'];
const WORDS = ['pwd', 'auth', 'jwt', 'pin', 'otp', 'cvv', 'ssn', 'dsn'];
const isSecret = (name) => {
  if (typeof name !== 'string') return false;
  name = slice(name, 0, 128);
  if (name === 'key' || name === 'keys' || name === 'tokens') return false;
  let joined = '', word = '', n = 0, before = 0;
  for (let i = 0; i <= name.length; i++) {
    const c = i < name.length ? charCode(name, i) : 0;
    if (word !== '' && (!isLetter(c) || (isUpper(c) && !isUpper(before)))) {
      if (among(WORDS, word)) return true;
      n++;
      if (i < name.length) word = isLetter(c) || !among(['key', 'keys'], word) ? '' : word;
    }
    if (isLetter(c)) {
      if (!isLetter(before)) word = '';
      word += toLower(name[i]);
      joined += toLower(name[i]);
    }
    before = c;
  }
  if (has(joined, 'tokeniz')) return false;
  for (let i = 0; i < PARTS.length; i++) if (has(joined, PARTS[i])) return true;
  return (word === 'key' || word === 'keys') && (n > 1 || isUpper(charCode(name, 0)));
};

// ---- a value in some words ----

let cut = false;
const escaped = (text, most) => {
  let out = '';
  for (let i = 0; i < text.length && i < most; i++) {
    const c = charCode(text, i);
    if (c === 10) out += '\\n';
    else if (c === 9) out += '\\t';
    else if (c === 13) out += '\\r';
    else if (c === 39 || c === 92) out += '\\' + text[i];
    else if (c < 32 || (c > 126 && c < 160)) out += '\\x' + slice('0' + numberText(c, 16), -2);
    else out += text[i];
  }
  if (text.length <= most) return out;
  cut = true;
  return out + '…';
};
const clean = (text) => {
  let out = '';
  for (let i = 0; i < text.length && i < NAME; i++) out += charCode(text, i) < 32 || charCode(text, i) === 127 ? '?' : text[i];
  return out;
};

// Only a value that the object itself stores; a getter is code.
const own = (o, name) => {
  const d = getOwnPropertyDescriptor(o, name);
  return d && 'value' in d ? d.value : undefined;
};

const typeOf = (v) => {
  if (v === null) return 'null';
  if (typeof v !== 'object') return typeof v;
  if (isProxy(v)) return 'Proxy';
  if (isTypedArray(v)) return typedTag(v);
  if (isArray(v)) return 'Array';
  for (let o = v, i = 0; o !== null && i < 8 && !isProxy(o); o = getPrototypeOf(o), i++) {
    const made = own(o, 'constructor');
    const name = typeof made === 'function' && !isProxy(made) ? own(made, 'name') : undefined;
    if (typeof name === 'string' && name !== '') return clean(name);
  }
  return 'Object';
};

const sizeOf = (v) => {
  if (typeof v === 'string') return v.length;
  if (typeof v !== 'object' || v === null || isProxy(v)) return '';
  if (isTypedArray(v)) return typedLength(v);
  if (isArray(v)) return own(v, 'length');
  return isMap(v) ? mapSize(v) : isSet(v) ? setSize(v) : '';
};

const listed = (open, close, n, depth, at) => {
  let out = open, i = 0;
  for (; i < n && i < (depth >= DEEP ? 0 : ITEMS); i++) out += (i > 0 ? ', ' : '') + at(i);
  if (i < n) {
    cut = true;
    out += i > 0 ? ', …' : '…';
  }
  return out + close;
};

const ofObject = (v, depth) => {
  const names = ownKeys(v), shown = [];
  for (let i = 0; i < names.length && shown.length <= ITEMS; i++)
    if (typeof names[i] === 'string' && getOwnPropertyDescriptor(v, names[i]).enumerable) shown[shown.length] = names[i];
  const type = typeOf(v);
  return (type === 'Object' ? '' : type + ' ') + listed('{', '}', shown.length, depth, (i) => {
    const d = getOwnPropertyDescriptor(v, shown[i]);
    const text = isSecret(shown[i]) ? '(masked)' : 'value' in d ? preview(d.value, depth + 1) : '(getter)';
    return `${escaped(shown[i], INSIDE)}: ${text}`;
  });
};

const ofMap = (v, depth) => {
  const entries = mapEntries(v);
  return 'Map ' + listed('{', '}', mapSize(v), depth, () => {
    const pair = mapNext(entries).value;
    return `${preview(pair[0], depth + 1)}: ${isSecret(pair[0]) ? '(masked)' : preview(pair[1], depth + 1)}`;
  });
};

const ofSet = (v, depth) => {
  const values = setValues(v);
  return 'Set ' + listed('{', '}', setSize(v), depth, () => preview(setNext(values).value, depth + 1));
};

const preview = (v, depth) => {
  const type = typeof v;
  if (type === 'string') return `'${escaped(v, depth > 0 ? INSIDE : TEXT)}'`;
  if (type === 'bigint') return v < 2n ** 256n && v > -(2n ** 256n) ? bigText(v) + 'n' : 'a large number';
  if (type === 'symbol') return escaped(symbolText(v), INSIDE);
  if (type === 'function') return 'function';
  if (type !== 'object' || v === null) return is(v, -0) ? '-0' : `${v}`;
  if (isProxy(v)) return 'Proxy';
  if (isTypedArray(v)) return listed('[', ']', typedLength(v), depth, (i) => preview(v[i], depth + 1));
  if (isArray(v))
    return listed('[', ']', own(v, 'length'), depth, (i) => {
      const d = getOwnPropertyDescriptor(v, i);
      return d ? ('value' in d ? preview(d.value, depth + 1) : '(getter)') : 'empty';
    });
  if (isMap(v)) return ofMap(v, depth);
  if (isSet(v)) return ofSet(v, depth);
  if (isDate(v)) return dateTime(v) === dateTime(v) ? iso(v) : 'Invalid Date';
  if (isPromise(v)) return 'Promise';
  if (isNativeError(v)) return `${typeOf(v)}('${typeof own(v, 'message') === 'string' ? escaped(own(v, 'message'), INSIDE) : ''}')`;
  return ofObject(v, depth);
};

const line = (name, v, secret) => {
  cut = false;
  let shown = secret ? '' : preview(v, 0);
  if (shown.length > PREVIEW) {
    shown = slice(shown, 0, PREVIEW) + '…';
    cut = true;
  }
  return `V\t${clean(name)}\t${typeOf(v)}\t${sizeOf(v)}\t\t\t${secret ? 'm' : ''}${cut ? 'c' : ''}\t${shown}\n`;
};

// ---- the debugger ----

if (isMainThread && !process.channel) {
  const { Session } = require('inspector');
  const { openSync, writeSync, closeSync, constants } = require('fs');
  const { join } = require('path');
  const { fileURLToPath } = require('url');
  const { findSourceMap } = require('module');
  const home = process.cwd(), session = new Session(), hidden = `belljar${Math.random().toString(36).slice(2)}`;
  const post = session.post.bind(session), global = globalThis;
  let looks = 0, told = '', given, was;

  const ask = (method, params) => {
    let answer;
    post(method, params, (error, result) => { if (!error) answer = result; });
    return answer;
  };

  // The value of a variable of a frame. `given` stays unset if it is not there, or has no value yet. A
  // getter of the global object is code.
  const read = (frame, name) => {
    was = false;
    const d = getOwnPropertyDescriptor(global, name);
    if (d && !('value' in d)) return;
    ask('Debugger.evaluateOnCallFrame', { callFrameId: frame.callFrameId, expression: `${hidden}(${name})`, silent: true, timeout: 50 });
  };

  const RESERVED = ('await async break case catch class const continue debugger default delete do else export extends false finally ' +
    'for from function if import in instanceof let new null of return static super switch throw true try typeof undefined var void ' +
    'while with yield console Math JSON Object Array process require module exports').split(' ');
  // The names of a line, without texts and comments; "a.b.c" in one piece.
  const namesOf = (code) => {
    const found = [];
    let quote = 0, chain = [];
    for (let i = 0; i < code.length && i < LINE_SEEN && found.length < 4 * NAMES_MAX; i++) {
      const c = charCode(code, i);
      if (quote !== 0) {
        if (c === 92) i++;
        else if (c === quote) quote = 0;
      } else if (c === 39 || c === 34) {
        quote = c;
      } else if (c === 47 && charCode(code, i + 1) === 47) {
        break;
      } else if (isWord(c)) {
        let end = i + 1;
        while (end < code.length && isWord(charCode(code, end))) end++;
        const word = slice(code, i, end), dotted = i > 0 && code[i - 1] === '.';
        if (!dotted && !(c >= 48 && c <= 57) && !among(RESERVED, word)) found[found.length] = chain = [word];
        else if (dotted && chain.length > 0 && chain.length < 4) chain[chain.length] = word;
        else chain = [];
        i = end - 1;
        if (code[end] !== '.' && !(code[end] === '?' && code[end + 1] === '.')) chain = [];
      }
    }
    return found;
  };

  const tell = (frame, parts) => {
    read(frame, parts[0]);
    if (!was || typeof given === 'function' || given === global) return '';
    let v = given, name = parts[0], secret = isSecret(name);
    for (let i = 1; i < parts.length && i < 4 && typeof v === 'object' && v !== null && !isProxy(v); i++) {
      const d = getOwnPropertyDescriptor(v, parts[i]);
      if (!d || !('value' in d) || typeof d.value === 'function') break;
      v = d.value;
      name += '.' + parts[i];
      secret = secret || isSecret(parts[i]);
    }
    return line(name, v, secret);
  };

  const originalLine = (file, number) => {
    const entry = findSourceMap && findSourceMap(file)?.findEntry(number - 1, 0);
    return entry && entry.originalLine !== undefined ? entry.originalLine + 1 : number;
  };

  const files = new Map(), mapGet = bind(Map.prototype.get), mapSet = bind(Map.prototype.set); // the scripts of the job
  const fileOf = (frame) => mapGet(files, frame.location.scriptId) ?? '';
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => {
    const file = begins(url, 'file:') ? fileURLToPath(url) : url;
    if (begins(file, home + '/') && !has(file, '/node_modules/') && mapSize(files) < SCRIPTS_MAX) mapSet(files, scriptId, file);
  });

  const tellFrame = (frame) => {
    const { lineNumber, scriptId } = frame.location;
    const file = fileOf(frame);
    const source = ask('Debugger.getScriptSource', { scriptId })?.scriptSource ?? '';
    const names = namesOf(lineOf(source, lineNumber)), told = [];
    let out = `F\t${originalLine(file, lineNumber + 1)}\t${clean(frame.functionName || '<anonymous>')}\t${clean(file)}\n`;
    for (let i = 0; i < names.length && told.length < NAMES_MAX; i++) {
      const one = tell(frame, names[i]);
      if (one !== '' && !among(told, one)) out += told[told.length] = one;
    }
    return out;
  };

  // A program can replace the methods that its objects inherit.
  for (const name of ['emit', 'post']) defineProperty(session, name, { value: session[name] });
  session.connect();
  session.on('Debugger.paused', ({ params }) => {
    const failed = params.reason === 'exception' || params.reason === 'promiseRejection';
    if (++looks > LOOKS_MAX || !failed || !isExtensible(global)) {
      ask('Debugger.disable'); // an error that is caught after all, `debugger`, or the program's own session
      return;
    }
    try {
      defineProperty(global, hidden, { configurable: true, enumerable: false, value: (v) => { given = v; was = true; } });
      told = 'Values\n';
      for (let i = 0, n = 0; i < params.callFrames.length && n < 2; i++)
        if (fileOf(params.callFrames[i]) !== '') {
          told += tellFrame(params.callFrames[i]);
          n++;
        }
    } catch { /* the program has replaced a part of Node that is used here */ }
    delete global[hidden];
    given = undefined;
  });
  ask('Debugger.enable');
  ask('Debugger.setPauseOnExceptions', { state: 'uncaught' });
  process.once('exit', (code) => {
    if (code !== 1 || told === '') return;
    try {
      const fd = openSync(join(home, FILE), constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o644);
      writeSync(fd, told);
      closeSync(fd);
    } catch { /* a full disk */ }
  });
}
for (const name of Object.keys(require.cache)) delete require.cache[name];
