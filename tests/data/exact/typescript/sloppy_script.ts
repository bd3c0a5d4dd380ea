function f(this: unknown): boolean { return this === globalThis; }
console.log(f());
