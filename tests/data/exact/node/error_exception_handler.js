process.on('uncaughtException', (e, origin) => { console.log('caught', e.message, origin); });
process.on('uncaughtExceptionMonitor', (e) => console.log('monitor', e.message));
setTimeout(() => console.log('goes on'), 5);
throw new Error('one');
