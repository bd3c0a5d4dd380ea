import sys
def hook(u): print("unraisable", u.exc_type.__name__, u.exc_value, u.err_msg)
sys.unraisablehook = hook
class A:
    def __del__(self): 1 / 0
A()
a = A()
