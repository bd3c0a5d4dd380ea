header = bytes([0x50, 0x4B, 3, 4])
for magic in ["PK"]:
    if header.startswith(magic):
        print("zip")
