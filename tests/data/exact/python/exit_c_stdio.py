import ctypes
libc = ctypes.CDLL(None)
libc.printf(b"through C's own buffer\n")
print("through Python")
