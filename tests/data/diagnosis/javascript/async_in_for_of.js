async function pages() {
  return [1, 2];
}

async function main() {
  for (const page of pages()) console.log(page);
}
main();
