Promise.all([1, Promise.resolve(2)]).then(console.log);
Promise.allSettled([Promise.reject(new Error('x')), 1]).then((r) => console.log(r.map((x) => x.status)));
Promise.any([Promise.reject(1), Promise.resolve(3)]).then(console.log);
Promise.race([new Promise((r) => setTimeout(r, 5, 'slow')), 'fast']).then(console.log);
Promise.any([Promise.reject(1)]).catch((e) => console.log(e.constructor.name, e.errors));
console.log(Promise.resolve(1), Promise.reject(1).catch(() => {}), new Promise(() => {}));
