def f(x):
    return g(x) + 1

def g(x):
    return {"a": 1}[x] + h(x)

f("nope")
