prices = {"tea": 2, "cake": "3"}
total = 0
for price in prices.values():
    total = total + price
print(total)
