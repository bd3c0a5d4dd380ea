const prices = [1, 2, 3];
const total = prices.reduce((sum, p) => { sum + p; }, 0);
console.log(total.toFixed(2));
