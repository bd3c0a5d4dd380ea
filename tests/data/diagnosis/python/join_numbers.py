digits = [1, 2, 3]
print("-".join(digits))
