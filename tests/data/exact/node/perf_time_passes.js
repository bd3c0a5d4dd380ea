const a = performance.now(), h = process.hrtime.bigint(), d = Date.now();
setTimeout(() => { const e = performance.now() - a; console.log(e >= 19 && e < 2000, Number(process.hrtime.bigint() - h) / 1e6 >= 19, Date.now() - d >= 19); }, 20);
