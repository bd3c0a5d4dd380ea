function upper<T>(x: T): string {
  return x.toUpperCase();
}
console.log(upper("a"));
