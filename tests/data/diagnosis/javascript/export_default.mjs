import sum from './math.mjs';

console.log(sum(1, 2));
