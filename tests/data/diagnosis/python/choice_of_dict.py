import random

prices = {"tea": 3, "milk": 1}
print(random.choice(prices))
