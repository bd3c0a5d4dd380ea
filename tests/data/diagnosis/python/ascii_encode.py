def to_bytes(names):
    return [name.encode("ascii") for name in names]


print(to_bytes(["Ann", "Zoë"]))
