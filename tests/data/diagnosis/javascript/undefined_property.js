const user = { name: "Ada" };

console.log(user.name);
console.log(user.address.city);
