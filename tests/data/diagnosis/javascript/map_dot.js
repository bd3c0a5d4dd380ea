const ages = new Map([["ana", 31], ["dan", 25]]);
function label(name) {
  return `${name} is ${ages.ana.toFixed(0)}`;
}
console.log(label("ana"));
