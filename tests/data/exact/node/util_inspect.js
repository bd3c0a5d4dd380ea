const u = require('util');
class Foo { constructor() { this.a = 1; } get b() { return 2; } static c = 3; #d = 4; [u.inspect.custom]() { return 'custom!'; } }
class Bar extends Map { }
const circ = { name: 'c' }; circ.self = circ;
console.log(new Foo(), new Bar([[1, { a: 1 }]]), circ, [1, , 3], Object.create(null), Object.create({ constructor: null }), [undefined, null], new Proxy({ a: 1 }, {}), new WeakMap(), Symbol.iterator, function named() {}, async () => {}, function* g() {}, Foo, [['a', 'b'], ['c']], { 'a-b': 1, [Symbol('k')]: 2 }, new (class extends Array { })(3), Buffer.from('hi'), new Uint8Array(2), new ArrayBuffer(2), new Date(NaN), 'x'.repeat(200).length, [..."longer array of many characters so that it wraps around"], process.versions.node.length > 0);
console.log(u.inspect({ a: { b: { c: { d: 1 } } } }, { depth: null, compact: false, colors: true, sorted: true }), u.format('%s', { toString() { return 's'; } }), u.types.isProxy(new Proxy({}, {})), u.isDeepStrictEqual([1], [1]), u.inspect('it\'s "q" `b`'), u.inspect(new Error('stackless'), { compact: true }).split('\n')[0]);
console.log(Array.from({ length: 150 }, (_, i) => i), new Map(Array.from({ length: 3 }, (_, i) => [i, { i }])), globalThis === global, u.inspect(globalThis, { depth: 0 }));
