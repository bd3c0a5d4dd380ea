const http = require('http');
const s = http.createServer((q, r) => { let b = ''; q.on('data', (d) => b += d); q.on('end', () => { r.setHeader('X-A', 'b'); r.end(JSON.stringify([q.method, q.url, b])); }); });
s.on('error', (e) => console.log(e.code));
s.listen(0, '127.0.0.1', () => { const q = http.request({ port: s.address().port, host: '127.0.0.1', method: 'POST', path: '/p?q=1' }, (r) => { console.log(r.statusCode, r.headers['x-a']); r.on('data', (d) => console.log(String(d))); r.on('end', () => s.close()); }); q.on('error', (e) => console.log(e.code)); q.end('body'); });
