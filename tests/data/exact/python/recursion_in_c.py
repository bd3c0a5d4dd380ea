x = []
for _ in range(100000):
    x = [x]
try:
    repr(x)
except RecursionError as e:
    print(e)
import json
try:
    json.dumps(x)
except RecursionError as e:
    print(e)
while x:
    x = x[0]
