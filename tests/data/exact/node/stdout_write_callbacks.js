process.stdout.write('a', () => console.error('cb1'));
process.stdout.write('b\n', 'utf8', () => console.error('cb2'));
console.error('sync');
