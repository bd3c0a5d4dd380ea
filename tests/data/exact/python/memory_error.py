try:
    bytearray(1 << 50)
except MemoryError as e:
    print(repr(e))
[0] * (1 << 58)
