import mmap
with open("m", "w+b") as f:
    f.write(b"0" * 100); f.flush()
    m = mmap.mmap(f.fileno(), 0)
    m[:3] = b"abc"
    m.flush()
print(open("m", "rb").read(5), len(m))
