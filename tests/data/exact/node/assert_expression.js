const assert = require('assert');
const x = 5;
assert(x === 6 && typeof x === 'string');
