'use strict';

function squares(numbers) {
  const results = [];
  for (const n of numbers) {
    results.push(n * n);
  }
  return result;
}

console.log(squares([1, 2, 3]));
