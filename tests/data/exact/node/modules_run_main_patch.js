const M = require('module');
M.runMain = () => console.log('mine'); M.runMain();
const o = M._extensions['.js'];
M._extensions['.txt'] = (m, f) => { m.exports = require('fs').readFileSync(f, 'utf8'); };
console.log(require('./t.txt'));
