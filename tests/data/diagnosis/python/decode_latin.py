with open("names.txt", "wb") as f:
    f.write("José".encode("latin-1"))

print(open("names.txt").read())
