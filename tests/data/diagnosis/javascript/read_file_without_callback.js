const fs = require("fs");
fs.readFile("notes.txt", "utf8");
