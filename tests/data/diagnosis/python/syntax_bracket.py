print("total:", sum([1, 2, 3])
value = 3
