const { execFileSync } = require('child_process');
console.log(Number(execFileSync('/bin/sh', ['-c', 'echo $PPID']).toString()) === process.pid);
