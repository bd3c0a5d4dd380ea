def minmax(values):
    return min(values), max(values), sum(values)


low, high = minmax([1, 2, 3])
print(low, high)
