class A:
    def __init__(self):
        self.rate = 0.5,
    def f(self): return 100 - self.rate
A().f()
