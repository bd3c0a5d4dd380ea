async function getList() {
  return [1, 2, 3];
}
async function main() {
  const first = await getList().find((x) => x > 1);
  console.log(first);
}
main();
