console.log(process.title);
process.title = 'short';
console.log(process.title, require('fs').readFileSync('/proc/self/cmdline', 'utf8').split('\0')[0]);
