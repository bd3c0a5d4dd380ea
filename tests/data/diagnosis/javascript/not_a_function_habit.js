const words = ["tea", "milk"];
console.log(words.contains("tea"));
