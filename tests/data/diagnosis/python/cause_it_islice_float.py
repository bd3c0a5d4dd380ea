import itertools
n = 10
print(list(itertools.islice(range(10), n / 2)))
