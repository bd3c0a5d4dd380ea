function point(a, b) {
  return
  {
    x: a,
    y: b,
  };
}
console.log(point(1, 2).x);
