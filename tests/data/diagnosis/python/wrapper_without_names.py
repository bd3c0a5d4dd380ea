def loud(f):
    def inner(*args):
        print("call")
        return f(*args)
    return inner


@loud
def greet(name, again=False): return name
greet("ann", again=True)
