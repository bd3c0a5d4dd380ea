local ages = { ann = 3, bob = 4 }
for name, age in ages do print(name, age) end
