local function sum(list)
  local total = 0
  for _, v in ipairs(list) do
    if v > 0 then
      total = total + v
  end
  return total
end

print(sum({ 1, 2, 3 }))
