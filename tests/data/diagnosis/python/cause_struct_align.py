import struct
data = b"\x01" + b"\x00" * 8
struct.unpack("Bd", data)
