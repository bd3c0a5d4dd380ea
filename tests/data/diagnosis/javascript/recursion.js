function depth(n) {
  return 1 + depth(n + 1);
}

console.log(depth(0));
