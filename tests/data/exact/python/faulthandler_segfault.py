import faulthandler, ctypes
faulthandler.enable(all_threads=False)
def f(): ctypes.string_at(0)
f()
