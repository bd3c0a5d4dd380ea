import json

squares = {n: "the square of the number is %d" % (n * n) for n in range(200)}
stored = json.loads(json.dumps(squares))
wanted = 190
print(stored[wanted])
