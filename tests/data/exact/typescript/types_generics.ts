function id<T>(x: T): T { return x; }
const pair = <A, B>(a: A, b: B): [A, B] => [a, b];
class Box<T extends object = {}> { constructor(readonly value: T) {} map<U extends object>(f: (t: T) => U): Box<U> { return new Box<U>(f(this.value)); } }
console.log(id<number>(3), pair<string, number>('a', 1), new Box({ a: 1 }).map((v) => ({ b: v.a + 1 })));
console.log(new Map<string, Array<number>>([['a', [1]]]), id<Array<Array<number>>>([[1]]));
