async function load(id) {
  return { id };
}

function loadAll(ids) {
  return ids.map((id) => {
    const item = await load(id);
    return item.id;
  });
}

console.log(loadAll([1, 2]));
