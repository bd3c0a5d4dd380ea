function size(x: string | number) {
  return x.length;
}
console.log(size("a"));
