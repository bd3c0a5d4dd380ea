import faulthandler, sys
print(faulthandler.is_enabled())
faulthandler.enable()
print(faulthandler.is_enabled())
def f(): faulthandler.dump_traceback(sys.stdout, all_threads=False)
f()
