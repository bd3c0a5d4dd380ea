def log(f):
    def inner():
        return f()
    return inner
@log
def add(a, b): return a + b
add(1, 2)
