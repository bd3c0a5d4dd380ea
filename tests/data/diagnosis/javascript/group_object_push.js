const byCity = {};
const people = [{ name: "A", city: "Iasi" }, { name: "B", city: "Cluj" }];
for (const person of people) {
  byCity[person.city].push(person.name);
}
console.log(byCity);
