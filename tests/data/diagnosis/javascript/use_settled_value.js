const load = async (id) => ({ id, owner: { name: "x" } });

async function main() {
  const all = await Promise.allSettled([load(1), load(2)]);
  for (const item of all) {
    console.log(item.owner.name);
  }
}

main();
