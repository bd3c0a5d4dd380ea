async function loadUsers() {
  return [{ name: "ann" }];
}

function names() {
  return loadUsers().map((u) => u.name);
}
names();
