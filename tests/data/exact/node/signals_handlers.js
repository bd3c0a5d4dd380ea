process.on('SIGINT', (s, n) => { console.log('got', s, n); });
process.once('SIGUSR2', () => { console.log('usr2'); clearInterval(i); });
const i = setInterval(() => {}, 1000);
process.kill(process.pid, 'SIGINT');
setTimeout(() => process.kill(process.pid, 'SIGUSR2'), 20);
