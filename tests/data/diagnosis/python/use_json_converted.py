import json
d = {int(k): v for k, v in json.loads('{"1": 2}').items()}
print(d[5])
