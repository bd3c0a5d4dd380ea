from functools import reduce

prices = [3, 4]
print(reduce(lambda total: total + 1, prices))
