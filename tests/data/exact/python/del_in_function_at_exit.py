class A:
    def __del__(self):
        print("del in", __name__)
def f():
    global keep
    keep = A()
f()
