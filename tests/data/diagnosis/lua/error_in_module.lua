local counter = require("counter")
print(counter.sum({ 1, 2, "x" }))
