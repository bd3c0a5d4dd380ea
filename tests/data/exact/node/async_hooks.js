const fs = require('fs'), ah = require('async_hooks');
const seen = [];
ah.createHook({ init(id, type, trigger) { seen.push(`${type} ${id} ${trigger}`); } }).enable();
setTimeout(() => {}, 1); Promise.resolve().then(() => {}); process.nextTick(() => {});
fs.stat('/', () => { fs.writeSync(1, seen.join('\n') + '\n'); });
