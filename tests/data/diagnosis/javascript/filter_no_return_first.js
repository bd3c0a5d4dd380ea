const orders = [{ id: 1, total: 5 }, { id: 2, total: 50 }];
const big = orders.filter((o) => { o.total > 10; });
console.log(big[0].id);
