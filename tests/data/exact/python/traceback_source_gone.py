import os
os.unlink("main.py")
def f():
    1 / 0
f()
