const { exec } = require('child_process');
const { promisify } = require('util');
Promise.all(Array.from({ length: 8 }, (_, i) => promisify(exec)(`echo ${i}`))).then((r) => console.log(r.map((x) => x.stdout.trim())));
