local n = 3
n += 1
print(n)
