process.stdout.write('x'.repeat(1 << 20) + '\n');
console.log('after');
