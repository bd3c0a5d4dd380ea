import weakref
class A: pass
d, s = weakref.WeakValueDictionary(), weakref.WeakSet()
a = A()
d["k"] = a; s.add(a)
print(len(d), len(s))
del a
print(len(d), len(s))
keep = A()
d["k"] = keep
