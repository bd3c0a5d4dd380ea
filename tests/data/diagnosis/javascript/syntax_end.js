function f(x) {
  if (x) {
    return 1;
  }

console.log(f(1));
