const words = ["tea", "milk"];
console.log(words.length());
