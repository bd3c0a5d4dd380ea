counts = {}
counts["a"] += 1
