letter = "b"
print("c" + (ord(letter) + 1))
