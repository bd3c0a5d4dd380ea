local total = 0
local items = { 1, 2, 3 }

for i, v in ipairs(items)
  total = total + v
end

print(total)
