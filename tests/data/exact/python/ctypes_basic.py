import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.abs(-5), libc.strlen(b"abc"), ctypes.sizeof(ctypes.c_void_p))
class S(ctypes.Structure):
    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_char * 3)]
print(bytes(S(1, b"xyz")), libc.close(99), ctypes.get_errno())
