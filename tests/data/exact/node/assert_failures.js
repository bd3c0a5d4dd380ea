const assert = require('assert');
for (const f of [() => assert.strictEqual(1, 2), () => assert.deepStrictEqual({ a: [1, 2, 3] }, { a: [1, 2, 4] }), () => assert(false), () => assert.ok(0, 'msg'), () => assert.throws(() => {}), () => assert.match('a', /b/)]) { try { f(); } catch (e) { console.log(e.code, e.message); } }
assert.deepStrictEqual([1, 2, { x: 'y' }], [1, 2, { x: 'z' }]);
