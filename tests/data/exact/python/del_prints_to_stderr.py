import sys
class A:
    def __del__(self): print("to stderr", file=sys.stderr)
a = A()
