const n: number = 'not a number';
console.log(n, (n as any).toUpperCase());
undefinedName;
