function sum(prices) {
  let totalPrice = 0;
  for (const p of prices) {
    totalPrice += p;
  }
  // A slip of the finger.
  return totlPrice;
}

console.log(sum([1, 2]));
