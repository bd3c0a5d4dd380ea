[1, 2, 3].forEach((n) => {
  if (n === 2) {
    continue;
  }
  console.log(n);
});
