class A:
    n = 0
    def __init__(self): self.me = self
    def __del__(self): A.n += 1
for _ in range(5000): A()
print(A.n > 1000)
