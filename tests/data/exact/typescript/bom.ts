const x: number = 1;
console.log(x, 'bom');
