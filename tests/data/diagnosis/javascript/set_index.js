const tags = new Set(["news", "sport"]);
const first = tags[0];
console.log(first.toUpperCase());
