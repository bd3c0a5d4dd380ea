xs = [1,2,3]
mid = len(xs) / 2
print(xs[:mid])
