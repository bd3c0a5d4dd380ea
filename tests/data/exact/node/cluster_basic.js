const cluster = require('cluster');
if (cluster.isPrimary) { const w = cluster.fork(); w.on('message', (m) => { console.log(m); w.disconnect(); }); cluster.on('exit', (w2, c) => console.log('worker exit', c)); } else { process.send({ id: cluster.worker.id, primary: cluster.isPrimary }); }
