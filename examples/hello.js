const fs = require("fs");

console.log(`Hello from Node ${process.version}`);
for (const path of ["/etc/shadow", "/root", "/sys"])
    console.log(`${path} is ${fs.existsSync(path) ? "there" : "not there"}`);
