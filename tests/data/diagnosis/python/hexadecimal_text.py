colour = "a0ff"
print(int(colour))
