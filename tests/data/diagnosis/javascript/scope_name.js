function describe(n) {
  if (n > 10) {
    const message = 'large';
  } else {
    const message = 'small';
  }
  return message;
}

console.log(describe(12));
