const { execFileSync, spawnSync } = require('child_process');
console.log(execFileSync(process.execPath, ['-p', '[process.execArgv, process.argv.length, process.env.LD_PRELOAD, process.env.NODE_OPTIONS]']).toString());
console.log(spawnSync(process.execPath, ['-e', 'throw new Error("c")']).status);
