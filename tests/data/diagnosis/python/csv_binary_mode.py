import csv

with open("people.csv", "wb") as f:
    out = csv.writer(f)
    out.writerow(["name", "age"])
