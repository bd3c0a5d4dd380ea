const d = require('domain').create();
d.on('error', (e) => console.log('domain', e.message));
d.run(() => { setTimeout(() => { throw new Error('in domain'); }, 1); });
