import warnings
warnings.simplefilter("always")
def f():
    open("main.py")
f()
g = open("main.py")
