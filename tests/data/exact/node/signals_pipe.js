process.stdout.on('error', () => {});
console.log(process.listenerCount('SIGPIPE'), require('os').constants.signals.SIGPIPE);
try { process.kill(process.pid, 'SIGNOPE'); } catch (e) { console.log(e.code); }
console.log(process.kill(process.pid, 0), process.kill(process.pid, 'SIGPIPE'));
