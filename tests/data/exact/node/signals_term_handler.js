process.on('SIGTERM', () => { console.log('term'); process.exit(0); });
setInterval(() => {}, 1000);
require('child_process').execSync(`kill -TERM ${process.pid}`);
