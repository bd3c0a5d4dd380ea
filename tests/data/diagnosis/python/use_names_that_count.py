def best(rows):
    return [max(rows)]


name, points = best([("x", 3), ("y", 5)])
print(name, points)
