import pandas as pd

boxes = pd.DataFrame({"width": [2, 3], "weight": [4, 5]})


def area(box):
    return box["width"] * box["weight"]


print(boxes.apply(area))
