class Meta(type):
    def __new__(m, n, b, d, **k):
        print("new", n, k)
        return super().__new__(m, n, b, d)
    def __init__(c, n, b, d, **k): super().__init__(n, b, d)
class A(metaclass=Meta, opt=1):
    def __init_subclass__(cls, **k): print("sub", cls.__name__, k)
    def __set_name__(self, o, n): pass
class B(A, opt=2): pass
print(B.__mro__, B.__module__, B.__qualname__, B)
print(super, type(B))
