import json

data = {"a": 1}
print(json.dumps(data))
