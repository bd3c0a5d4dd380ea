def deco(f):
    def wrapper(*a, **k):
        return f(*a, **k) + 1
    return wrapper
@deco
@deco
def f():
    raise Exception("decorated")
f()
