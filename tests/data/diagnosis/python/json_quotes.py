import json

print(json.loads("{'name': 'Ada'}"))
