async function size(n) {
  return n;
}
async function main() {
  const sizes = Promise.all([size(1), size(2)]);
  console.log(sizes.map((n) => n + 1));
}
main();
