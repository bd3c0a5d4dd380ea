hoard = []
while True:
    hoard.append(bytearray(16 * 1024 * 1024))
    print("holding", 16 * len(hoard), "MiB", flush=True)
