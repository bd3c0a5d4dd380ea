import itertools
print(itertools.chain([1],[2])[0])
