def find_index(items, wanted):
    for i, item in enumerate(items):
        if item == wanted:
            return i


at = find_index(["a", "b"], "c")
print(at + 1)
