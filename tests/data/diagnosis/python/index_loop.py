values = [5, 6, 7]
for i in range(len(values) + 1):
    print(values[i])
