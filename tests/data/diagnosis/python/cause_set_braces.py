s = {}
s.add(1)
