const xs = [1, 2];
console.log(Math.max(...xs);
