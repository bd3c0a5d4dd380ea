import path = require('path');
console.log(path.extname(__filename));
