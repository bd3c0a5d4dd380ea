const { format } = require("./format");

console.log(format({ name: "Ada" }));
