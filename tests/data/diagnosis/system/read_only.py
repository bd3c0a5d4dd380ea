with open("/usr/lib/note.txt", "w") as f:
    f.write("hello")
