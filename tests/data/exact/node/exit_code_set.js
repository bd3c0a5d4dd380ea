process.exitCode = 7;
setTimeout(() => console.log('ran'), 1);
