process.emitWarning('careful', { code: 'W001', detail: 'some detail' });
process.emitWarning('old', 'DeprecationWarning', 'DEP9');
process.on('warning', (w) => console.log('seen', w.name, w.message, w.code));
