function label(a: string, b: number): string {
  return a + b;
}
const parts = ["x", 2];
console.log(label(...parts));
