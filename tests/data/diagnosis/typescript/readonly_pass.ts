function sortAll(xs: number[]) { return xs.sort(); }
const base: readonly number[] = [3, 1];
console.log(sortAll(base));
