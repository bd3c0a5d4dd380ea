local items = { 1, 2 }
for i, v in ipairs(items)
  print(v)
end
