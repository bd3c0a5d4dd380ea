import csv

rows = [["name", "age"], ["ada", 36]]

with open("out.csv", "w", newline="") as handle:
    writer = csv.writer(handle)
    writer.writerows(rows)
print("done")
