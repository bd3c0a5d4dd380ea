import json, csv, re, io, sys
print(json.dumps({"b": [1, 2.5, None, True], "a": "ü"}, sort_keys=True, indent=1), json.loads('{"x": 1e400}'))
w = csv.writer(sys.stdout)
w.writerow(["a,b", 'q"q', 3])
print(list(csv.DictReader(io.StringIO("x,y\n1,2\n"))), re.sub(r"(?P<n>\d+)", lambda m: str(int(m["n"]) * 2), "a1b22"))
json.loads("{bad}")
