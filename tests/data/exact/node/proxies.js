const log = [];
const p = new Proxy({}, { get: (t, k) => (log.push(String(k)), 1), has: () => true, ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }) });
p.x; 'y' in p; console.log(Object.keys(p), log, Reflect.ownKeys({ b: 1, 1: 1, [Symbol.iterator]: 1 }), p);
