setTimeout(() => { throw new Error('from a timer'); }, 1);
process.on('exit', (c) => console.log('exit', c));
