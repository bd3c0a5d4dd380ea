const net = require('net');
const s = net.createServer((c) => { c.on('data', (d) => c.write('echo ' + d)); c.on('end', () => s.close()); });
s.on('error', (e) => console.log(e.code));
s.listen(0, '127.0.0.1', () => { const c = net.connect(s.address().port, '127.0.0.1', () => c.write('hi')); c.on('data', (d) => { console.log(String(d)); c.end(); }); c.on('close', (e) => console.log('closed', e)); c.on('error', (e) => console.log(e.code)); });
