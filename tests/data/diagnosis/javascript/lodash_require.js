const path = require('path');
const _ = require('lodash');

const groups = _.groupBy(['a.js', 'b.ts'], (f) => path.extname(f));
console.log(groups);
