class Box<T> {
  constructor(private items: T[]) {}
  max(): T {
    return this.items.reduce((a, b) => (a.value > b.value ? a : b));
  }
}
console.log(new Box([{ value: 1 }]).max());
