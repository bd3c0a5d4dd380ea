pairs = [("a", 1), ("b", 2)]
for i, name, size in enumerate(pairs):
    print(i, name, size)
