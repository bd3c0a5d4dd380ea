const groups = new Map();
for (const word of ["apple", "avocado", "banana"]) {
  const key = word[0];
  groups.get(key).push(word);
}
console.log(groups);
