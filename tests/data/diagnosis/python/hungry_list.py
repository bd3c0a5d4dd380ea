def blocks(count):
    kept = []
    for n in range(count):
        kept.append(bytearray(4 << 20))
        print(n)
    return kept


print(len(blocks(500)))
