process.on('unhandledRejection', (r, p) => console.log('handler', r.message, p));
process.on('rejectionHandled', () => console.log('handled later'));
const p = Promise.reject(new Error('x'));
setTimeout(() => p.catch(() => console.log('caught')), 5);
