import functools

rates = []
print(functools.reduce(lambda a, b: a * b, rates))
