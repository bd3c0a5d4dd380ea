type Celsius = number;

function average(values: Celsius[]): Celsius {
  const sum = values.reduce((a, b) => a + b, 0);
  return (sum / values.length).toFixed(1);
}

console.log(average([1, 2, 3]));
