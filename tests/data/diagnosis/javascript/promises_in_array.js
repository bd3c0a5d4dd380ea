async function price(item) {
  return item.length * 2.5;
}
async function main() {
  const items = ["pen", "book"];
  const prices = items.map(async (i) => await price(i));
  console.log(prices[0].toFixed(2));
}
main();
