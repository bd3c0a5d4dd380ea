process.on('exit', (code: number) => console.log('exit', code));
process.exitCode = 3 as number;
