const fs = require('fs');
const a = fs.openSync('/etc/passwd'), b = fs.openSync('/etc/passwd');
console.log(a, b);
fs.closeSync(a);
console.log(fs.openSync('/etc/passwd'));
