const { greet } = require("./helper");
greet("Ada");
