import csv

rows = []


def load(path):
    with open(path, newline="") as f:
        return list(csv.reader(f))


rows = load("sales.csv")
print(rows)
