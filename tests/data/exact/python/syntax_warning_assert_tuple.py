assert (1, "always true")
print("str" is "str")
