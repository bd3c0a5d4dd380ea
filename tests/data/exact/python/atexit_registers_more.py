import atexit
def a():
    print("a")
    atexit.register(print, "registered at exit")
atexit.register(a)
