def f():
    try:
        raise OSError(2, "No such file", "thing")
    finally:
        [][0]
f()
