setTimeout(() => console.log('never'), 100000);
setInterval(() => {}, 1000);
process.nextTick(() => process.exit(2));
