local word = "hello"
print(word:uper())
