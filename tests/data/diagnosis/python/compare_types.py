print(sorted([3, "10", 2]))
