local helper = require("helpr")
print(helper.double(2))
