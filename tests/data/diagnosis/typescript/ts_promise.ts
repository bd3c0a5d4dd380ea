async function count(): Promise<number> {
  return 3;
}

async function main(): Promise<void> {
  const n: number = count();
  console.log(n + 1);
}

main();
