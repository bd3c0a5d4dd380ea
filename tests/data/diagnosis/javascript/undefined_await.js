async function load() {
  return { items: [1, 2, 3] };
}

async function main() {
  const data = load();
  console.log(data.items.length);
}

main();
