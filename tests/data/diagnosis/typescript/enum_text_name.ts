enum Color { Red, Green }
const c: Color = "Red";
console.log(c);
