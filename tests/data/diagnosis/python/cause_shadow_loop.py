for id in [1,2]: pass
print(id(3))
