const users = new Map([["a", { name: "Ann", age: 3 }]]);
const { name, age } = users["a"];
console.log(name, age);
