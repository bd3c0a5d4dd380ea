const { Worker, isMainThread, workerData } = require('worker_threads');
if (isMainThread) {
  const s = new SharedArrayBuffer(8), a = new Int32Array(s);
  const w = new Worker(__filename, { workerData: s });
  w.on('online', () => {});
  console.log(Atomics.wait(a, 0, 0, 5000), Atomics.load(a, 1));
  console.log(Atomics.wait(a, 1, 42, 10));
} else { const a = new Int32Array(workerData); Atomics.store(a, 1, 42); Atomics.store(a, 0, 1); Atomics.notify(a, 0); }
