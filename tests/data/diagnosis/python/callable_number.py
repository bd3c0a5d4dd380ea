x = 3
print(2(x + 1))
