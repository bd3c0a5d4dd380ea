def write(path, text):
    with open(path, "w", encoding="utf-16") as f:
        f.write(text)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


write("notes.txt", "héllo")
print(read("notes.txt"))
