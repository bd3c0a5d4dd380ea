import os from 'node:os';

const { readFileSync } = require('fs');

function firstLine(file) {
  return readFileSync(file, 'utf8').split(os.EOL)[0];
}

console.log(firstLine('notes.txt'));
