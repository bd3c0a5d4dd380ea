const net = require('net');
const s = net.createServer((c) => c.end('over unix')).listen('/tmp/s.sock', () => net.connect('/tmp/s.sock').on('data', (d) => { console.log(String(d)); s.close(); }));
s.on('error', (e) => console.log(e.code));
