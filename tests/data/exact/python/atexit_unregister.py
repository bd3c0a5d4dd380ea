import atexit
def f(): print("never")
atexit.register(f)
atexit.unregister(f)
