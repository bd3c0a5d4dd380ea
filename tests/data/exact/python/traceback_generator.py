def g():
    yield 1
    raise LookupError("in generator")
for x in g():
    print(x)
