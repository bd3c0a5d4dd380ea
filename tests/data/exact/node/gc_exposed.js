require('v8').setFlagsFromString('--expose-gc');
const gc = require('vm').runInNewContext('gc');
let big = Array.from({ length: 1e5 }, () => ({})); big = null; gc(); gc();
console.log('collected', typeof gc, process.execArgv);
