const x = { a: 1 } as any;
const y = <number>x.a;
const z = x!.a!;
const list = [1, 2, 3] as const
;[4].forEach((v) => console.log(v))
const w = x as unknown as string
console.log(y, z, list, w)
