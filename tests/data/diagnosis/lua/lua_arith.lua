local rows = { "3", "4", "five" }

local function total(list)
  local sum = 0
  for i = 1, #list do
    sum = sum + list[i]
  end
  return sum
end

print(total(rows))
