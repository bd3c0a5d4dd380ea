local items = { 1, 2, 3 }
for i = 1, items do print(i) end
