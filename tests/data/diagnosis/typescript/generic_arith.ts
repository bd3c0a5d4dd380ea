function sum<T>(a: T, b: T): T {
  return a + b;
}
console.log(sum(1, 2));
