class Thing:
    colour = 1
print(Thing().color)
