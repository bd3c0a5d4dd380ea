console.log('going');
process.kill(process.pid, 'SIGTERM');
setTimeout(() => console.log('never'), 5000);
