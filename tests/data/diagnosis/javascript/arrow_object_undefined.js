const names = ["ana", "dan"];
const users = names.map((n) => { name: n });
console.log(users[0].name);
