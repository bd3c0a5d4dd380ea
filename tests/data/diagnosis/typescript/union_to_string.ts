function f(x: string | number): string { return x; }
console.log(f(1));
