from functools import reduce

factors = [f for f in (2, 3) if f > 5]
print(reduce(lambda a, b: a * b, factors))
