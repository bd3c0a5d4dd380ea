scores = {"ann": 91, "bob": 78, "cy": 85}

max = 0
for name, score in scores.items():
    if score > max:
        max = score
        best = name
print("best is", best)


def spread(values):
    return max(values) - min(values)


print(spread(scores.values()))
