f = lambda x: [y / 0 for y in x if y]
print(list(map(f, [[1]])))
