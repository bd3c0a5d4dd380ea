x = "\d"
print(x, 1 is 1)
