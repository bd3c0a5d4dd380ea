colours = ["red", "green", "blue"]
print(colours[3])
