ages = [3, None, 1]
print(sorted(ages))
