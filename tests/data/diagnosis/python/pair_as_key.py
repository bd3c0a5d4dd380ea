cells = {(0, 1): "x"}
print(cells[2, 2])
