local scores = { 10, "9", 8 }

local function ranked(list)
  table.sort(list, function(a, b)
    return a > b
  end)
  return list
end

print(table.concat(ranked(scores), ","))
