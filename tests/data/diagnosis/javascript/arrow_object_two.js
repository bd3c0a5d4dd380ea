const names = ["a", "b"];
const users = names.map((name, i) => { id: i, name: name });
console.log(users);
