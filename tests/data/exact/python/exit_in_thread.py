import sys, threading
def f():
    print("thread")
    sys.exit(5)
t = threading.Thread(target=f)
t.start(); t.join()
print("main goes on")
