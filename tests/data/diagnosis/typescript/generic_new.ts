function make<T>(): T {
  return new T();
}
console.log(make<Date>());
