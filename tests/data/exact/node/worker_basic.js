const { Worker, isMainThread, parentPort, workerData, threadId } = require('worker_threads');
if (isMainThread) {
  const w = new Worker(__filename, { workerData: { n: 5 }, argv: ['w'] });
  w.on('message', (m) => console.log('main', m)); w.on('exit', (c) => console.log('exit', c)); w.postMessage('hello');
} else {
  parentPort.once('message', (m) => { parentPort.postMessage({ m, workerData, threadId, argv: process.argv, execArgv: process.execArgv, env: process.env.HOME, pid: process.pid > 0, cwd: process.cwd() }); });
}
