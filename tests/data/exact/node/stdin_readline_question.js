const rl = require('readline').createInterface({ input: process.stdin, output: process.stdout });
rl.question('name? ', (name) => { console.log(`hi ${name}`); rl.question('age? ', (a) => { console.log(a * 2); rl.close(); }); });
