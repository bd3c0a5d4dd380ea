type Theme = "light" | "dark";
let theme = "dark";
function apply(t: Theme) { return t; }
console.log(apply(theme));
