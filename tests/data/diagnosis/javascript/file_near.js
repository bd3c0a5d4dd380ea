const fs = require("fs");

const config = JSON.parse(fs.readFileSync("confg.json", "utf8"));
console.log(config);
