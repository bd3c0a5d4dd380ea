console.table([{ a: 1, b: 'x' }, { a: 2, c: true }]);
console.table([[1, 2], [3, 4]]); console.table(new Map([['k', 1]])); console.table(new Set([1])); console.table(5); console.table([{ a: 1, b: 2 }], ['b']);
