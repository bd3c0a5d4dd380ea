const d = require('dgram');
const s = d.createSocket('udp4');
s.on('message', (m) => { console.log(String(m)); s.close(); }); s.on('error', (e) => { console.log(e.code); s.close(); });
s.bind(0, '127.0.0.1', () => { const c = d.createSocket('udp4'); c.send('udp', s.address().port, '127.0.0.1', () => c.close()); });
