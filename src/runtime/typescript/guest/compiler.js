// Finds the TypeScript compiler: a newer one installed with npm, or Debian's. Versions from 7 on
// are native programs without the JavaScript interface that we need, and are skipped.
'use strict';
const PLACES = ['/usr/local/lib/node_modules/typescript', '/usr/lib/node_modules/typescript', '/usr/share/nodejs/typescript'];

// A string with a single character beyond Latin-1 takes two bytes for each character. Escaping
// those characters halves the memory.
const loadSmall = (place) => {
  const Module = require('module');
  const file = require.resolve(place);
  const text = require('fs').readFileSync(file, 'utf8');
  const module = new Module(file);
  module.filename = file;
  module.paths = [];
  const plain = text.replace(/[^\0-\xff]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
  module._compile(Buffer.from(plain, 'latin1').toString('latin1'), file); // this conversion yields a one-byte string
  return module.exports;
};

// Restores Error.stackTraceLimit, which the compiler changes when it is loaded. small: for a
// zygote, which has the time.
module.exports = (small) => {
  const limit = Error.stackTraceLimit;
  for (const place of PLACES) {
    try {
      const ts = small ? loadSmall(place) : require(place);
      if (ts.createSourceFile) return ts;
    } catch (e) {
      if (e.code !== 'MODULE_NOT_FOUND') throw e;
    } finally {
      Error.stackTraceLimit = limit;
    }
  }
  require('fs').writeSync(2, 'TypeScript is not installed on this machine: apt-get install node-typescript, or npm install -g typescript@5\n');
  process.exit(1);
};
