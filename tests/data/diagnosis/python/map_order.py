words = ["a", "b"]
print(list(map(words, str.upper)))
