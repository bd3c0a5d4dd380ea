const stock = { apples: 3, pears: 5 };
for (const [name, n] of stock) {
  console.log(name, n);
}
