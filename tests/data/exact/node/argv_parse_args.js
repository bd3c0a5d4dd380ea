const { parseArgs } = require('node:util');
console.log(parseArgs({ options: { n: { type: 'string', short: 'n' }, v: { type: 'boolean' } }, allowPositionals: true }));
