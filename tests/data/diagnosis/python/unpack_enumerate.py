def longest(names):
    best = (0, "")
    for i, name, size in enumerate(names):
        if size > best[0]:
            best = (size, name)
    return best


names = [("Ada", 3), ("Grace", 5), ("Linus", 5)]
print(longest(names))
