import { readFileSync } from 'node:fs';
import path from 'node:path';

export function load(name) {
  return readFileSync(path.join('data', name), 'utf8');
}

console.log(load('a.txt').length);
