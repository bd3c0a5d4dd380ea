const LIMIT = 10;
const total = 0;

function addUp(numbers) {
  for (const n of numbers) {
    total = total + n;
    if (total > LIMIT) return 'over';
  }
  return total;
}

console.log(addUp([3, 4, 5]));
