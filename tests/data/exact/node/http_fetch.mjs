import http from 'node:http';
const s = http.createServer((q, r) => r.end('fetched ' + q.url));
await new Promise((r) => s.listen(0, '127.0.0.1', r));
try { console.log(await (await fetch(`http://127.0.0.1:${s.address().port}/x`)).text()); } catch (e) { console.log(e.message, e.cause?.code); }
s.close(); s.closeAllConnections();
