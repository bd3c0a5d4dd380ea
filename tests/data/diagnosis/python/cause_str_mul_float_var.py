width = 20
pad = width / 2
print(" " * pad)
