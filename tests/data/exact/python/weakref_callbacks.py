import weakref
class A: pass
a, b = A(), A()
r = weakref.ref(a, lambda _: print("a died"))
s = weakref.ref(b, lambda _: print("b died at the end?"))
del a
