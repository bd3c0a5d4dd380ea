const name = "Ada";
console.log(name);
const name = "Bob";
