const os = require('os');
console.log(os.EOL, os.platform(), os.type(), os.arch(), os.endianness(), os.homedir(), os.tmpdir(), os.hostname(), os.cpus().length, os.availableParallelism?.(), os.totalmem() > 0, os.userInfo().username, os.userInfo().shell, os.release(), Object.keys(os.networkInterfaces()), os.getPriority());
