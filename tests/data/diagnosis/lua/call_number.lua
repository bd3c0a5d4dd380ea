local n = 3
print(n())
