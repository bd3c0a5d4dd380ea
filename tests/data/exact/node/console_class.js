const { Console } = require('console');
const c = new Console({ stdout: process.stdout, stderr: process.stderr, inspectOptions: { depth: 0 } });
c.log({ a: { b: 1 } }); c.error('e');
new console.Console(process.stdout).log('x', console instanceof Console, console.Console === Console);
