class A:
    __slots__ = ()
    def __del__(self): print("slots del")
a = A()
