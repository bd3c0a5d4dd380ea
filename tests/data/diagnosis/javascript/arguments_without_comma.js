const name = "x";
console.log("a" "b");
