const line = `total: ${sum;
console.log(line);
