interface A { x: number; m(): void; [key: string]: unknown }
interface B extends A { y?: string }
type U = A | B | null;
type M = { [K in keyof A]?: A[K] };
type C<T> = T extends string ? 'a' : T extends (infer R)[] ? R : never;
declare const nothing: U;
const b: B = { x: 1, m() {} };
console.log(Object.keys(b), typeof nothing === 'undefined' ? 'none' : 'some');
