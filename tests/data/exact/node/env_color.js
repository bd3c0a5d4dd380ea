console.log(process.stdout.hasColors?.(), { a: 1, b: 'x' });
console.log(require('util').styleText?.('red', 'x'));
