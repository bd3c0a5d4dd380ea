import sys
class A:
    def __del__(self): print("del")
def f():
    local = A()
    sys.exit(3)
f()
