const b = Buffer.alloc(4);
const fs = require('fs');
let n, out = [];
while ((n = fs.readSync(0, b, 0, 4, null)) > 0) out.push(b.toString('latin1', 0, n));
console.log(out);
