Promise.reject(new Error('rejected'));
setTimeout(() => console.log('never'), 50);
