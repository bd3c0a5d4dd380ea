for (let i = 0; i < 20000; i++) console.log('line ' + i + ' ' + 'y'.repeat(40));
process.on('exit', () => console.log('last'));
process.exitCode = 3;
