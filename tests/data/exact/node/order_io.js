const fs = require('fs');
fs.readFile(__filename, () => { console.log('read'); setTimeout(() => console.log('timeout in io'), 0); setImmediate(() => console.log('immediate in io')); });
