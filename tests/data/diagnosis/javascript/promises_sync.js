const fs = require("fs").promises;

const text = fs.readFileSync("a.txt", "utf8");
