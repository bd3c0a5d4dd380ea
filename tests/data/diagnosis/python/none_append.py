names = ["b"]
names = names.append("a")
names.sort()
print(names)
