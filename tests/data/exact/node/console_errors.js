const e = new TypeError('bad', { cause: new Error('root') });
e.extra = { a: 1 };
console.log(e);
console.error(new AggregateError([new Error('one'), new RangeError('two')], 'many'));
class MyError extends Error { constructor(m) { super(m); this.name = 'MyError'; } }
console.log(new MyError('mine'), [new Error('in array')], { e: new Error('in object') });
console.log(String(new Error('s')), Object.prototype.toString.call(new Error()));
