function price(kind) {
  switch (kind) {
    case "a":
      const base = 1;
      return base;
    default:
      const base = 2;
      return base * 2;
  }
}
console.log(price("a"));
