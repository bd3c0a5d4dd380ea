const line = "no digits";
const digits = line.match(/\d+/).length;
console.log(digits);
