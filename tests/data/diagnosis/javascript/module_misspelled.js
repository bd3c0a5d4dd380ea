const readline = require("readlin");
console.log(readline);
