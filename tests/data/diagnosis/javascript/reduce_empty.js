function average(numbers) {
  const sum = numbers.reduce((a, b) => a + b);
  return sum / numbers.length;
}

console.log(average([1, 2, 3]));
console.log(average([]));
