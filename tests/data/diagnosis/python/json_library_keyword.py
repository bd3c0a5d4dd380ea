import json


def save(data, path):
    text = json.dumps(data, indent=2, sort=True)
    with open(path, "w") as f:
        f.write(text)


save({"b": 1, "a": 2}, "out.json")
