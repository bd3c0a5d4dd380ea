type Pair = [string, number];
const first: Pair = ["a", 1, 2];
console.log(first);
