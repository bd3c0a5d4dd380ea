import json

grid = {(0, 1): "x"}
print(json.dumps(grid))
