if (process.argv[2] === 'child') {
  process.on('message', (m) => { process.send({ got: m, argv: process.argv.slice(1), execArgv: process.execArgv }); process.disconnect(); });
} else {
  const c = require('child_process').fork(__filename, ['child']);
  c.on('message', (m) => console.log(m)); c.send({ hi: [1, 2] }); c.on('exit', (code) => console.log('exit', code));
}
