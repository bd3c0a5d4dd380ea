process.on('exit', () => { process.exitCode = 4; console.log('a'); });
process.on('exit', () => { process.exit(6); });
process.on('exit', () => console.log('not reached'));
