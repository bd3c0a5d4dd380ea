d = {"a": 1, "b": 2}
for k, v in d: print(k)
