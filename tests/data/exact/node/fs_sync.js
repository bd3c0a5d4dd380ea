const fs = require('fs'), path = require('path');
fs.mkdirSync('d/e', { recursive: true }); fs.writeFileSync('d/f', 'text'); fs.appendFileSync('d/f', '+'); fs.copyFileSync('d/f', 'd/g'); fs.renameSync('d/g', 'd/h'); fs.symlinkSync('f', 'd/l');
console.log(fs.readdirSync('d').sort(), fs.readFileSync('d/l', 'utf8'), fs.statSync('d/f').size, fs.lstatSync('d/l').isSymbolicLink(), fs.existsSync('d/x'), fs.realpathSync('d/l'), path.relative('/a/b', '/a/c'));
fs.chmodSync('d/f', 0o600); console.log((fs.statSync('d/f').mode & 0o777).toString(8)); fs.truncateSync('d/f', 2); console.log(fs.readFileSync('d/f', 'latin1'));
fs.rmSync('d', { recursive: true }); console.log(fs.existsSync('d'), fs.mkdtempSync('/tmp/x-').length);
const fd = fs.openSync('r', 'w+'); fs.writeSync(fd, 'abc', 5); const b = Buffer.alloc(8); console.log(fs.readSync(fd, b, 0, 8, 0), b); fs.closeSync(fd);
