const order = { id: 10n };
console.log(JSON.stringify(order));
