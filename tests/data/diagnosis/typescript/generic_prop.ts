function label<T>(item: T): string {
  return item.name;
}
console.log(label({ name: "x" }));
