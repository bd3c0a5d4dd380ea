class A:
    def __eq__(self): return True
A() == A()
