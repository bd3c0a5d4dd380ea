const groups = {};
const names = ["ann", "bob"];
for (const name of names) {
  groups.push(name);
}
