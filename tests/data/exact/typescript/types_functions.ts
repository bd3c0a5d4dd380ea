function over(a: string): string;
function over(a: number): number;
function over(a: any): any { return a; }
function self(this: { n: number }, k?: number): number { return this.n + (k ?? 0); }
function isString(x: unknown): x is string { return typeof x === 'string'; }
function asserts(x: unknown): asserts x is number { if (typeof x !== 'number') throw new TypeError('no number'); }
const opt = (a?: number, ...rest: string[]): void => console.log(a, rest);
console.log(over('a'), over(1), self.call({ n: 1 }, 2), isString(''), self.length);
asserts(1); opt(); opt(1, 'a', 'b');
