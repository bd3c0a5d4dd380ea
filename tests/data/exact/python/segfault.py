import ctypes
print("x")
ctypes.string_at(0)
