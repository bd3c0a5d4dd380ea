from contextlib import contextmanager, ExitStack
@contextmanager
def c(n):
    print("enter", n)
    try:
        yield n
    finally:
        print("leave", n)
s = ExitStack()
s.enter_context(c(1))
s.enter_context(c(2))
