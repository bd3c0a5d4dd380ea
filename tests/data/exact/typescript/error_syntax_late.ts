const x: number = 1;
console.log('ok');
const y = (2;
