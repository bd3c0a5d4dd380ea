let a: number = 1, b: string | undefined, c!: boolean[];
const t: [number, string] = [1, 'x'];
const o: { readonly a: number; b?: string } = { a: 1 };
const f: (x: number) => string = (x: number): string => `${x}`;
console.log(a, b, c, t, o, f(2));
