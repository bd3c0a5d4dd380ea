import { setTimeout as sleep, setImmediate as im, setInterval as every } from 'node:timers/promises';
console.log(await sleep(1, 'slept'), await im('imm'));
let n = 0;
for await (const v of every(1, 'v')) { console.log(v); if (++n === 3) break; }
const c = new AbortController(); setTimeout(() => c.abort(), 1);
try { await sleep(1000, null, { signal: c.signal }); } catch (e) { console.log(e.name, e.code); }
