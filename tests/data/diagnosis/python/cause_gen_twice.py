g = (x for x in [1,2])
print(sum(g))
print(max(g))
