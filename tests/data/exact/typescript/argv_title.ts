import { readFileSync } from 'fs';
console.log(JSON.stringify(readFileSync('/proc/self/cmdline', 'utf8')), process.title);
