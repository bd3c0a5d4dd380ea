function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
console.log(fib(27));
let x = 0; for (let i = 0; i < 2e7; i++) x = (x + i * i) | 0; console.log(x);
const m = new Map(); for (let i = 0; i < 1e5; i++) m.set('k' + i, i); console.log(m.size, m.get('k99'));
console.log([...Array(1e5).keys()].map((i) => (i * 7919) % 10007).sort((p, q) => p - q)[500]);
