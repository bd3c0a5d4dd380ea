words = "one two three".split()
print(words.length)
