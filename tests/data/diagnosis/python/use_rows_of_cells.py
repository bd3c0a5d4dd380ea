import csv
import sys

out = csv.writer(sys.stdout)
for name, age in [("Ana", 31), ("Dan", 44)]:
    out.writerow(name, age)
