const v8 = require('v8');
const s = v8.getHeapStatistics();
console.log(s.heap_size_limit, Object.keys(s), v8.cachedDataVersionTag(), v8.deserialize(v8.serialize({ a: [1, new Date(0)] })));
