function sum(list) {
  return list.reduce((a, b) => {
    return a + b;
  , 0);
}

console.log(sum([1, 2]));
