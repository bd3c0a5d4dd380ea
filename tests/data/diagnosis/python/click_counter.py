import functools

hits = 0


def counted(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        hits += 1
        return func(*args, **kwargs)
    return wrapper


@counted
def greet(name):
    return f"hi {name}"


print(greet("ada"))
print(hits)
