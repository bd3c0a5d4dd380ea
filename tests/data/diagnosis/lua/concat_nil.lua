local name
local age = 3
print("name: " .. name .. age)
