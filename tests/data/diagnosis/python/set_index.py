def unique_words(text):
    return {w.strip(".,").lower() for w in text.split()}


words = unique_words("The cat. The dog, the end.")
print(words)
print("first:", words[0])
