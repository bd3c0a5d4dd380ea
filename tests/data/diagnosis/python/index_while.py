text = "abc"
i = 0
while i <= len(text):
    print(text[i])
    i += 1
