async function* ids() { yield 1; yield 2; }
async function main() {
  const all = [...ids()];
  console.log(all);
}
main();
