local json = require("json")

local data = json.decode('{"a": 1}')
print(data.a)
