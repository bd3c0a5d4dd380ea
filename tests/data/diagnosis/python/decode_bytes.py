raw = "hi".encode("utf-16")
print(raw.decode("utf-8"))
