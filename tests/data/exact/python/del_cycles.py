import gc
class A:
    def __init__(self, n): self.n = n; self.me = self
    def __del__(self): print("del", self.n)
A(1)
print(gc.collect() > 0)
A(2)
a = A(3)
