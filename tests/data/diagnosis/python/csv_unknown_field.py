import csv, io

out = csv.DictWriter(io.StringIO(), fieldnames=["name", "age"])
out.writeheader()
out.writerow({"name": "ann", "age": 3, "town": "Ulm"})
