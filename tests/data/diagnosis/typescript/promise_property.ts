async function load(): Promise<string[]> {
  return ["a", "b"];
}

async function main(): Promise<void> {
  const items = load();
  console.log(items.length);
}

main();
