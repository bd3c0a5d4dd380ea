import struct, array
print(struct.pack("<IhQ", 1, -2, 3), struct.unpack(">f", b"\x3f\x80\0\0"), array.array("d", [1, 2]).tobytes()[:4], memoryview(b"abc")[1:].tobytes(), (258).to_bytes(2, "big"))
struct.unpack("I", b"x")
