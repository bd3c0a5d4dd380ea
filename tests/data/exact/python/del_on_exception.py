class A:
    def __init__(self, n): self.n = n
    def __del__(self): print("del", self.n)
def f():
    local = A("local of the failing frame")
    1 / 0
g = A("global")
f()
