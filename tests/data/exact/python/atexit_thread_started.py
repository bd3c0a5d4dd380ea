import atexit, threading
def f():
    t = threading.Thread(target=print, args=("in a late thread",))
    t.start()
    t.join()
atexit.register(f)
