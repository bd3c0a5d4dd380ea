local settings = { width = 80 }

local function width()
  return setings.width
end

print(width())
