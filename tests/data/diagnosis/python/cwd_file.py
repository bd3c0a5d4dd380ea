import csv


def read_scores(name):
    with open(name, newline="") as f:
        return {row["player"]: int(row["score"]) for row in csv.DictReader(f)}


print(read_scores("scores.csv"))
