async function list() {
  return [1, 2, 3];
}

async function main() {
  const items = list();
  console.log(items.map((i) => i * 2));
}

main();
