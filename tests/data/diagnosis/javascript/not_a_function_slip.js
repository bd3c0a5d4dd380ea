const name = "ada";

console.log(name.toUppercase());
