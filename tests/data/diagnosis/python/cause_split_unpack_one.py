first, last = "Madonna".split()
