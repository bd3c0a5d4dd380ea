import gc
gc.set_debug(gc.DEBUG_SAVEALL)
class A: pass
a = A(); a.me = a
del a
print(gc.collect() >= 1, len(gc.garbage) >= 1)
gc.set_debug(0)
