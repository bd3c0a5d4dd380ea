const text = fs.readFileSync("a.txt", "utf8");
console.log(text);
