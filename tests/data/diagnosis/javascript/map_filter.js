const stock = new Map([["a", 3], ["b", 0]]);
console.log(stock.filter(([k, v]) => v > 0));
