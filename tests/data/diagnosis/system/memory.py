held = []
while True:
    held.append("x" * 1_000_000)
