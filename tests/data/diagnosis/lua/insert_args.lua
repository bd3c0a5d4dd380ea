local t = {}
table.insert(t, 1, 2, 3)
