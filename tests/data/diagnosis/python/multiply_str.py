def ask(label):
    return input(label + ": ")


width = ask("width")
height = ask("height")
print("area:", width * height)
