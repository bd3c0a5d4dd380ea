const { Worker } = require('worker_threads');
new Worker('console.log("from worker"); console.error("err"); process.exit(2)', { eval: true }).on('exit', (c) => console.log('exit', c));
