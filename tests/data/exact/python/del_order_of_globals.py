class A:
    def __init__(self, n): self.n = n
    def __del__(self): print(self.n)
_private = A("_private")
z = A("z")
a = A("a")
__dunder__ = A("__dunder__")
