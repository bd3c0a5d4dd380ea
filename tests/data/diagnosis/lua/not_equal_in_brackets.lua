local a = 1
print((a != 2))
