import atexit
atexit.register(print, "first registered")
atexit.register(print, "second", sep="-")
@atexit.register
def third(): print("third")
print(atexit._ncallbacks() >= 3)
