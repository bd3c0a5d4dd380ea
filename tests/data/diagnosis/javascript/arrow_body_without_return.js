const double = (n) => {
  n * 2;
};
const twice = double(4);
console.log(twice.toFixed(1));
