process.on('exit', () => console.log('not called'));
console.log('x');
process.reallyExit(9);
