function double(value) {
  const value = 2;
  return value * 2;
}
console.log(double(1));
