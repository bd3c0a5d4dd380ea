x = "not closed
print(x)
