import json


def load(text):
    try:
        data = json.loads(text)
    except ValueError:
        print("bad json")
    return data["name"]


print(load('{"name": "ada"}'))
print(load("oops"))
