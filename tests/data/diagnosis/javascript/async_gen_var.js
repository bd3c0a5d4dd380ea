async function* ticks(n) {
  for (let i = 0; i < n; i++) yield i;
}
async function main() {
  const stream = ticks(3);
  for (const t of stream) {
    console.log(t);
  }
}
main();
