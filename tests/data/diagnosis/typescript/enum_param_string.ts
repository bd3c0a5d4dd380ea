enum Size { S = "s", M = "m" }
function price(s: Size) { return s === Size.S ? 1 : 2; }
const input: string = "s";
console.log(price(input));
