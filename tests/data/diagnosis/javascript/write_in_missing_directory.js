const fs = require("fs");
fs.writeFileSync("out/reports/may.txt", "text");
