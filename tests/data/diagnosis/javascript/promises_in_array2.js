async function fetchUser(id) {
  return { id, name: "User" + id };
}
async function main() {
  const users = [1, 2, 3].map((id) => fetchUser(id));
  const names = users.map((u) => u.name.toUpperCase());
  console.log(names);
}
main();
