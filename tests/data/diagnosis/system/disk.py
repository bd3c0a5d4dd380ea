with open("large.bin", "wb") as f:
    for _ in range(100):
        f.write(b"x" * 100_000)
