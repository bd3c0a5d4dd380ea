const cp = require('child_process');
console.log(cp.execSync('echo out; echo err >&2; pwd', { stdio: ['ignore', 'pipe', 'pipe'] }).toString());
try { cp.execSync('exit 3', { stdio: 'pipe' }); } catch (e) { console.log(e.status, e.message); }
console.log(cp.spawnSync('cat', { input: 'piped' }).stdout.toString(), cp.spawnSync('/nope').error.code, cp.spawnSync('sh', ['-c', 'kill -9 $$']).signal);
cp.execSync('echo inherited; echo e >&2', { stdio: 'inherit' });
