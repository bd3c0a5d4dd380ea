n = int("3,4".split(","))
