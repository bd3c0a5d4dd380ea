const { spawn, exec } = require('child_process');
const c = spawn('sh', ['-c', 'cat; echo "args: $0 $1"; exit 4', 'a', 'b c']);
let out = '', status;
c.stdout.on('data', (d) => { out += d; });
c.on('exit', (code, sig) => { status = [code, sig]; });
c.on('close', () => {
  console.log(out, status, 'close');
  exec('sleep 10', { timeout: 50 }, (e) => {
    console.log(e.killed, e.signal);
    spawn('/no/such').on('error', (x) => console.log(x.code, x.path));
  });
});
c.stdin.end('in\n');
