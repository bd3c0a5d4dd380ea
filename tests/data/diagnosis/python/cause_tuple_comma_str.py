name = "abc",
print(name.upper())
