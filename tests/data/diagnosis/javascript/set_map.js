const tags = ['a', 'b', 'a'];

function uniqueUpper(list) {
  const unique = new Set(list);
  return unique.map((t) => t.toUpperCase());
}

console.log(uniqueUpper(tags));
