const rates = [];
console.log(rates.reduce((a, b) => a * b));
