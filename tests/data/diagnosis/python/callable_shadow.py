list = [1, 2, 3]
text = "abc"
print(list(text))
