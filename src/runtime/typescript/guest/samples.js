// Sample programs for the warm-up of a zygote: they use most features that programs use.
'use strict';
exports.rounds = 60;

exports.stripped = [
  'console.log("hello");\n',
  'const x: number = 1 as number;\nconsole.log(`sum ${x + 1}`, x!);\n',
  `import * as fs from 'fs';
import { join, type ParsedPath } from 'node:path';
interface Point { x: number; y?: string; readonly z: [number, string] }
type Pair<A, B = A> = { [K in keyof A]: A[K] } & { b: B };
enum Color { Red, Green = 5, Blue = 'b' }
abstract class Shape<T> implements Iterable<T> {
  private items: Map<string, T> = new Map();
  static readonly count: number = 0;
  constructor(private readonly name: string, public n = 1) {
  }
  abstract area(): number;
  get size(): number { return this.items.size; }
  *[Symbol.iterator](): Iterator<T> { yield* this.items.values(); }
  protected async load(key: string, ...rest: number[]): Promise<T | undefined> { return await this.items.get(key)!; }
}
class Circle extends Shape<number> {
  area(): number { return Math.PI; }
}
declare const nothing: string;
function f<T extends Point>(this: void, a: T, b?: number): number;
function f(a: any, b = 2) { return a.x + b; }
const g = async <T,>(value: T): Promise<T> => value;
for (const c of [1, 2, 3] as const) { console.log(f({ x: c } as any), Color.Red, <any>c); }
try { throw new Error('e'); } catch (e: unknown) { if (e instanceof Error) console.log(e.message ?? join('a', 'b')); }
switch (Number(fs.existsSync('/'))) { case 1: break; default: console.log(new Circle('c'), g); }
const { a, ...others }: { a: number; b: string } = { a: 1, b: '' };
let i = 0; while (i < 3) { i++; if (i % 2 === 0) continue; }
export const h = (list: number[]) => list.map((v) => v * 2).filter(Boolean).reduce((s, v) => s + v, 0);
`,
  `import { readFile } from 'fs/promises';
const main = async (): Promise<void> => { console.log((await readFile('/dev/null')).length); };
await main();
export {};
`,
];
exports.translated = [
  `import { add } from './util';
import fs from 'fs';
export default function main(): number { return add(1, 2); }
namespace N { export const x = 1; }
export * from './util.js';
console.log(main(), fs, N.x, import.meta.url);
class P { constructor(private a: number) { console.log(a); } }
await 1;
`,
];
