function getRows() {
  return [1, 2, 3];
}
const doubled = getRows.map((x) => x * 2);
console.log(doubled);
