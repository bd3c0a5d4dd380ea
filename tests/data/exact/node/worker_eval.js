const { Worker } = require('worker_threads');
const ws = [1, 2, 3].map((n) => new Promise((r) => new Worker(`require('worker_threads').parentPort.postMessage(${n} * ${n})`, { eval: true }).on('message', r)));
Promise.all(ws).then((r) => {
  console.log(r);
  new Worker('throw new Error("in worker")', { eval: true }).on('error', (e) => console.log('error', e.message)).on('exit', (c) => console.log(c));
});
