price = "3.50"
print(int(price) * 2)
