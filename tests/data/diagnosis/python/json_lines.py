import json

text = '{"a": 1}\n{"a": 2}'
print(json.loads(text))
