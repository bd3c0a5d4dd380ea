"""Reads a table that was put beside it, uses a module that was put beside it, writes a file."""
import csv
import sys

from totals import totals_by

with open("sales.csv", newline="") as table:
    totals = totals_by(csv.DictReader(table), key=sys.argv[1], value="amount")

with open("report.txt", "w") as report:
    for name, total in sorted(totals.items()):
        print(f"{name:<8}{total:>8.2f}", file=report)
print("wrote report.txt with", len(totals), "rows")
