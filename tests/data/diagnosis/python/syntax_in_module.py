import mathutil

print(mathutil.mean([1, 2, 3]))
