import struct
struct.pack("B", 300)
