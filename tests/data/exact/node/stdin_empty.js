console.log(JSON.stringify(require('fs').readFileSync(0, 'utf8')), process.stdin.isTTY, process.stdin.constructor.name, process.stdin.fd);
