import fs from 'node:fs/promises';
await fs.writeFile('a.txt', 'one\ntwo\n');
const h = await fs.open('a.txt');
for await (const line of h.readLines()) console.log(line);
console.log((await fs.readdir('.')).sort(), (await fs.stat('a.txt')).size, await fs.readFile('a.txt', 'utf8'));
await Promise.all(Array.from({ length: 20 }, (_, i) => fs.writeFile('f' + i, String(i))));
console.log((await Promise.all(Array.from({ length: 20 }, (_, i) => fs.readFile('f' + i, 'utf8')))).join());
try { await fs.readFile('nope'); } catch (e) { console.log(e.message, e.stack.split('\n').length); }
