def f(max, items):
    return max(items)
f(3, [1])
