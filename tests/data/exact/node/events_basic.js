const E = require('events');
const e = new E({ captureRejections: true });
e.on('x', (...a) => console.log('x', a)); e.once('x', () => console.log('once')); e.prependListener('x', () => console.log('first'));
e.emit('x', 1, 2); e.emit('x'); console.log(e.emit('nobody'), e.eventNames(), e.listenerCount('x'));
E.once(e, 'later').then((v) => console.log('later', v)); e.emit('later', 5);
for (let i = 0; i < 11; i++) e.on('many', () => {});
e.emit('error', new Error('unhandled error event'));
