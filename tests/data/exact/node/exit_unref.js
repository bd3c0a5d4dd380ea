setTimeout(() => console.log('never'), 1000).unref();
setInterval(() => {}, 10).unref();
console.log('end');
