// The TypeScript to use: a newer one that somebody installed with npm, or Debian's. From 7 on it is a program, without what we
// need of it: then it is as if it were not there.
'use strict';
const PLACES = ['/usr/local/lib/node_modules/typescript', '/usr/lib/node_modules/typescript', '/usr/share/nodejs/typescript'];

// A text with one character beyond Latin-1 takes two bytes for each: half the memory with such characters written in ASCII.
const loadSmall = (place) => {
  const Module = require('module');
  const file = require.resolve(place);
  const text = require('fs').readFileSync(file, 'utf8');
  const module = new Module(file);
  module.filename = file;
  module.paths = [];
  const plain = text.replace(/[^\0-\xff]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
  module._compile(Buffer.from(plain, 'latin1').toString('latin1'), file); // which is what makes it take one byte each
  return module.exports;
};

// What it changes when it is loaded is the program's to decide. small: for a zygote, which has time.
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
