const prices = { tea: 1, milk: 2 };
let sum = 0;
for (const k of Object.keys(prices)) sum += prices[k];
console.log(sum);
