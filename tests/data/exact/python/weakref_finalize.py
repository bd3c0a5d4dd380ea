import weakref
class A: pass
a = A()
weakref.finalize(a, print, "finalized at exit")
b = A()
weakref.finalize(b, print, "finalized now")
del b
f = weakref.finalize(a, print, "not at exit")
f.atexit = False
print(f.alive)
