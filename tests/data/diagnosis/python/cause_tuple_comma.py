price = 3.5,
print(price * 1.2)
