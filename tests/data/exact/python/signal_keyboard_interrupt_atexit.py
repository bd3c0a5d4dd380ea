import atexit
atexit.register(lambda: print("atexit runs"))
class D:
    def __del__(self): print("del runs")
d = D()
raise KeyboardInterrupt
