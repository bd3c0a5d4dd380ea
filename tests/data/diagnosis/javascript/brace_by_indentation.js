function count(items) {
  let n = 0;
  for (const item of items) {
    n += item;
  return n;
}
console.log(count([1]));
