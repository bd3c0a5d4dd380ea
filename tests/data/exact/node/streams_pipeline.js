const { pipeline, Readable, Transform, PassThrough, Writable } = require('stream');
const up = new Transform({ transform(c, _, cb) { cb(null, c.toString().toUpperCase()); } });
pipeline(Readable.from(['a', 'b', 'c']), up, new PassThrough(), process.stdout, (e) => console.error('done', e));
const w = new Writable({ write(c, _, cb) { cb(new Error('refused')); } });
w.on('error', (e) => console.error(e.message)); w.write('x');
