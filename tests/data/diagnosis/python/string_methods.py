def highlight(text, word):
    if text.contains(word):
        return text.replace(word, word.upper())
    return text


lines = ["the quick brown fox", "jumps over"]
print([highlight(line, "fox") for line in lines])
