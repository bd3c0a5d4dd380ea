import fs = require('fs');
import path = require('path');
console.log(path.basename(__filename), typeof fs.statSync);
export = { a: 1 };
