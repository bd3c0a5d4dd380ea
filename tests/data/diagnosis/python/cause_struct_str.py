import struct
struct.pack("4s", "abcd")
