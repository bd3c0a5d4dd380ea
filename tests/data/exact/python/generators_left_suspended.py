def g():
    try:
        yield 1
        yield 2
    finally:
        print("generator closed")
it = g()
print(next(it))
