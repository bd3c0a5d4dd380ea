from contextlib import contextmanager
@contextmanager
def c():
    return 1
with c(): pass
