console.log('first');
console.error('second');
console.log(new (require('async_hooks').AsyncResource)('A').asyncId());
