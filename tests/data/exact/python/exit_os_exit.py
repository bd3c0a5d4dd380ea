import os, atexit
atexit.register(print, "never")
print("buffered?", end="")
os._exit(7)
