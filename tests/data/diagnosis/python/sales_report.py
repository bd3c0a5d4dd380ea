import csv
import io

RAW = """product,quantity,unit_price
pen,10,1.20
book,3,12.50
"""


def load(text):
    return list(csv.DictReader(io.StringIO(text)))


def revenue(rows):
    total = 0.0
    for row in rows:
        total += int(row["qauntity"]) * float(row["unit_price"])
    return total


if __name__ == "__main__":
    rows = load(RAW)
    print(f"Revenue: {revenue(rows):.2f}")
