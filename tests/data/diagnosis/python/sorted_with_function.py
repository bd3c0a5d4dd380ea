rows = [("b", 2), ("a", 1)]
print(sorted(rows, lambda row: row[1]))
