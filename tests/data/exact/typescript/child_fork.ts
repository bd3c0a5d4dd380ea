import { fork } from 'child_process';
if (process.argv[2] === 'child') {
  console.log('child', process.argv.slice(2) as string[]);
} else {
  fork(__filename, ['child']).on('exit', (c: number | null) => console.log('exit', c));
}
