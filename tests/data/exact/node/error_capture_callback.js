process.setUncaughtExceptionCaptureCallback((e) => console.log('captured', e.message));
setTimeout(() => { throw new Error('t'); });
