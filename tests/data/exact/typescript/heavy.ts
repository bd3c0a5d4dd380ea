class Vec { constructor(public readonly x: number, public readonly y: number) {} add(o: Vec): Vec { return new Vec(this.x + o.x, this.y + o.y); } }
let v: Vec = new Vec(0, 0);
for (let i: number = 0; i < 200000; i++) v = v.add(new Vec(i % 3, 1));
const m = new Map<string, number[]>();
for (let i = 0; i < 20000; i++) { const k = String(i % 97); (m.get(k) ?? m.set(k, []).get(k)!).push(i); }
console.log(v, m.size, [...m.values()].reduce((s: number, l: number[]) => s + l.length, 0));
