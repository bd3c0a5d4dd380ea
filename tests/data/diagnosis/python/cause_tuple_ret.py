def f():
    return 1, 2
print(f() + 1)
