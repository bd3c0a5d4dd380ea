import * as readline from 'readline';
const rl = readline.createInterface({ input: process.stdin });
let n: number = 0;
rl.on('line', (l: string) => { n += Number(l); });
rl.on('close', () => console.log(n));
