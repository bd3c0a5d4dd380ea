// The messages that a JavaScript session sends. Each is sent whole by session.c.
'use strict';
const { Buffer } = require('buffer'); // our own, because a program may replace the global one
const { concat } = Buffer;
const { stringify } = JSON;
const { entries, keys } = Object;
const TYPE = { READY: 32, DISPLAY: 33, UPDATE: 34, CLEAR: 35, RESULT: 36, ERROR: 37, DONE: 39, ANSWER: 40, NOTE: 41 };
const TAG = { TEXT: 3, VERSION: 7, DISPLAY_ID: 8, MIME: 9, DATA: 10, WAIT: 12, COUNT: 13, NAME: 14, MESSAGE: 15, TRACEBACK: 16,
  STATUS: 18, JSON: 19, CUT: 20 };
const FIELD_MAX = 1 << 20; // of a message's 2 MiB
const MESSAGE_MAX = (2 << 20) - 4096;
const CUT_MARK = '\n… cut';

const bytes = (value) => {
  if (Buffer.isBuffer(value)) return value;
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return Buffer.from(String(value), 'utf8');
};

const field = (tag, value) => {
  const data = bytes(value);
  const head = Buffer.alloc(8);
  head.writeUInt16LE(tag, 0);
  head.writeUInt32LE(data.length, 4);
  return [head, data];
};

const cut = (text) => (text.length <= FIELD_MAX ? text : text.slice(0, FIELD_MAX) + CUT_MARK);

const isBinary = (mime) => /^(?:image|audio|video)\//.test(mime) && mime !== 'image/svg+xml';

// Images are often strings in base 64, as Jupyter wants them.
const dataOf = (mime, value) => {
  if (isBinary(mime)) return typeof value === 'string' ? Buffer.from(value, 'base64') : bytes(value);
  return typeof value === 'string' ? value : ArrayBuffer.isView(value) ? bytes(value) : stringify(value);
};

// The pairs of a bundle that fit into a message. The text comes last, because it is the least.
const bundleFields = (bundle) => {
  let parts = [];
  let room = MESSAGE_MAX;
  let dropped = [];
  for (const [mime, value] of entries(bundle)) {
    const data = bytes(dataOf(mime, value));
    room -= data.length;
    if (room < 0) {
      room += data.length;
      dropped = [...dropped, `${mime} of ${data.length} bytes`];
    } else {
      parts = [...parts, ...field(TAG.MIME, mime), ...field(TAG.DATA, data)];
    }
  }
  if (dropped.length === 0) return parts;
  if (parts.length === 0) parts = [...field(TAG.MIME, 'text/plain'), ...field(TAG.DATA, '[the display was left out]')];
  const names = dropped.join(', ').slice(0, 1000);
  return [...parts, ...field(TAG.CUT, `left out: ${names}; a display holds at most ${MESSAGE_MAX} bytes`)];
};

const isBundle = (value) => typeof value === 'object' && value !== null && !Array.isArray(value) &&
  keys(value).length > 0 && keys(value).every((key) => /^[\w.+-]+\/[\w.+-]+$/.test(key));

// A value may say how it is shown: [Symbol.for('Jupyter.display')]() returns a bundle.
const HOOK = Symbol.for('Jupyter.display');
const bundleOf = (value, inspect) => {
  try {
    const bundle = value !== null && typeof value === 'object' && typeof value[HOOK] === 'function' ? value[HOOK]() : undefined;
    if (isBundle(bundle)) return { 'text/plain': cut(inspect(value)), ...bundle };
  } catch { /* the hook failed: the text is shown */ }
  return { 'text/plain': cut(inspect(value)) };
};

module.exports.make = ({ send: deliver, inspect }) => {
  const send = (request, type, parts) => deliver(request, type, concat(parts));
  const show = (request, type, value, id) => send(request, type, [
    ...(id === undefined ? [] : field(TAG.DISPLAY_ID, id)),
    ...bundleFields(isBundle(value) ? value : bundleOf(value, inspect))]);
  return {
    ready: (version) => send(0, TYPE.READY, field(TAG.VERSION, version)),
    result: (request, count, value) => send(request, TYPE.RESULT, [...field(TAG.COUNT, count), ...bundleFields(bundleOf(value, inspect))]),
    error: (request, { name, message, traceback }) =>
      send(request, TYPE.ERROR, [...field(TAG.NAME, cut(name)), ...field(TAG.MESSAGE, cut(message).slice(0, 65536)),
        ...field(TAG.TRACEBACK, cut(traceback).slice(0, FIELD_MAX / 2))]),
    answer: (request, value) => send(request, TYPE.ANSWER, field(TAG.JSON, stringify(value))),
    note: (request, text) => send(request, TYPE.NOTE, field(TAG.TEXT, text)),
    done: (request, status, count) => send(request, TYPE.DONE, [...field(TAG.STATUS, status), ...field(TAG.COUNT, count)]),
    // The global function display(value or bundle, {id}).
    display: (requestNow) => {
      const display = (value, { id } = {}) => show(requestNow(), TYPE.DISPLAY, value, id);
      display.update = (id, value) => show(requestNow(), TYPE.UPDATE, value, id);
      display.clear = ({ wait = false } = {}) => send(requestNow(), TYPE.CLEAR, wait ? field(TAG.WAIT, '') : []);
      return display;
    },
  };
};
