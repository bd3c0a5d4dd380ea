import json

with open("out.json", "w") as f:
    json.dump(f, {"a": 1})
