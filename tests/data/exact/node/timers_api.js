const t = setTimeout(() => {}, 10);
console.log(t.constructor.name, t.hasRef(), typeof t[Symbol.toPrimitive](), t._idleTimeout, Object.keys(t));
clearTimeout(t);
const im = setImmediate(() => {});
console.log(im.constructor.name, im.hasRef()); clearImmediate(im);
setTimeout(console.log, 1, 'with', 'args');
setTimeout(() => {}, 2 ** 31);
process.nextTick(() => process.exit());
setTimeout(() => {});
