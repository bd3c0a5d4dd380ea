const fs = require('fs');
fs.writeSync(1, 'one\n'); console.log('two'); fs.writeSync(2, 'three\n'); fs.writeFileSync('/dev/stdout', 'four\n'); fs.writeFileSync(1, 'five\n');
