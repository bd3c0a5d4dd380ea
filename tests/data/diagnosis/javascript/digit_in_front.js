const 2nd = "b";
console.log(2nd);
