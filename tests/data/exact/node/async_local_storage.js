const { AsyncLocalStorage } = require('async_hooks');
const s = new AsyncLocalStorage();
s.run({ id: 1 }, () => { setTimeout(() => console.log(s.getStore()), 1); Promise.resolve().then(() => console.log('p', s.getStore())); });
s.run({ id: 2 }, async () => { await null; console.log(s.getStore()); });
console.log(s.getStore());
