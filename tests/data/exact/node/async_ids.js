const ah = require('async_hooks');
console.log(ah.executionAsyncId(), ah.triggerAsyncId(), new ah.AsyncResource('A').asyncId(), new ah.AsyncResource('B').asyncId());
const seen = {}; // said in one order, whichever comes first
setTimeout(() => { seen.timeout = [ah.executionAsyncId(), ah.triggerAsyncId()]; }, 20);
setImmediate(() => { seen.immediate = [ah.executionAsyncId(), ah.triggerAsyncId()]; });
process.nextTick(() => { seen.tick = [ah.executionAsyncId(), ah.triggerAsyncId()]; });
process.on('exit', () => console.log(seen.tick, seen.immediate, seen.timeout));
