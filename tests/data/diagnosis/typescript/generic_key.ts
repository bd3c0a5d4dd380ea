function pick<T>(obj: T, key: string) {
  return obj[key];
}
console.log(pick({ a: 1 }, "a"));
