const people = [{ name: "Ada" }, { name: "Bob" }];
const found = people.find((p) => p.name === "Carol");
console.log(found.name);
