import * as readline from 'node:readline/promises';
const rl = readline.createInterface({ input: process.stdin });
const lines = [];
for await (const line of rl) lines.push(line);
console.log(lines);
