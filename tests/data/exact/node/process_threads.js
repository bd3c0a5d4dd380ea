const fs = require('fs');
console.log(fs.readdirSync('/proc/self/task').length, fs.readdirSync('/proc/self/task').map((t) => fs.readFileSync(`/proc/self/task/${t}/comm`, 'utf8').trim()));
