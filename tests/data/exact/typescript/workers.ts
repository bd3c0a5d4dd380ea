import { Worker, isMainThread, parentPort, workerData } from 'worker_threads';
if (isMainThread) {
  const w = new Worker(__filename, { workerData: 20 as number });
  w.on('message', (m: number) => console.log('answer', m));
  w.on('exit', (c: number) => console.log('worker exit', c));
} else {
  parentPort!.postMessage((workerData as number) + 1);
}
