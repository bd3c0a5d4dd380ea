setTimeout(() => console.log('timeout'), 0);
process.nextTick(() => console.log('tick'));
Promise.resolve().then(() => console.log('micro'));
console.log('sync');
await null;
console.log('after await');
const t = Date.now(); while (Date.now() - t < 5);
