from collections import defaultdict


def totals_by(rows, key, value):
    totals = defaultdict(float)
    for row in rows:
        totals[row[key]] += float(row[value])
    return totals
