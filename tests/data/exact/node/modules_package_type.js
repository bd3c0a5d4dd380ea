import { readFileSync } from 'node:fs';
console.log(import.meta.url, typeof require, readFileSync('package.json', 'utf8'));
