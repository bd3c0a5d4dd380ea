const r = process.resourceUsage();
console.log(Object.keys(r), Object.keys(process.memoryUsage()), Object.keys(process.cpuUsage()), process.memoryUsage.rss() > 0);
