const user = {};
user.name = "x";
console.log(user);
