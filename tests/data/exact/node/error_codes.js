const fs = require('fs');
for (const f of [() => fs.readFileSync('/nope'), () => fs.readFileSync('/'), () => fs.writeFileSync('/usr/x', ''), () => fs.mkdirSync('/sandbox/a/b/c'), () => Buffer.alloc(-1), () => require('net').connect(-1), () => new URL('nope'), () => require('crypto').createHash('nope'), () => fs.openSync(1)]) {
  try { f(); console.log('no error'); } catch (e) { console.log(e.name, e.code, e.message, e.errno, e.syscall, e.path); }
}
