const a = process.hrtime.bigint(), b = process.hrtime.bigint();
console.log(typeof a, b >= a, process.hrtime().length, process.uptime() < 5, process.uptime() > 0);
