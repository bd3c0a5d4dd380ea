print("hello)
print("world")
