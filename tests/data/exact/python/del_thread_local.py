import threading
class A:
    def __del__(self): print("thread local del")
l = threading.local()
l.x = A()
