import atexit
def look():
    import __main__
    print(sorted(k for k in vars(__main__) if k.startswith("__")))
atexit.register(look)
