const fs = require("fs");

fs.writeFileSync("/usr/note.txt", "hi");
