m = map(int, ["1","2"])
print(list(m))
print(max(m))
