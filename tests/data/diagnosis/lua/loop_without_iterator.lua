local list = { "a", "b" }
for i, v in list do print(i, v) end
