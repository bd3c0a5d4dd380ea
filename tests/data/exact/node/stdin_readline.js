const rl = require('readline').createInterface({ input: process.stdin });
let n = 0;
rl.on('line', (l) => console.log(++n, JSON.stringify(l)));
rl.on('close', () => console.log('closed', n));
