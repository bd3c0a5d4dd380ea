setTimeout(() => console.log('timeout 0'), 0);
setImmediate(() => { console.log('immediate'); process.nextTick(() => console.log('tick in immediate')); Promise.resolve().then(() => console.log('micro in immediate')); });
process.nextTick(() => console.log('tick'));
Promise.resolve().then(() => console.log('micro')).then(() => console.log('micro 2'));
queueMicrotask(() => console.log('queued'));
(async () => { console.log('async start'); await null; console.log('async after'); })();
process.nextTick(() => Promise.resolve().then(() => console.log('micro in tick')));
console.log('sync');
const t = Date.now(); while (Date.now() - t < 5);
