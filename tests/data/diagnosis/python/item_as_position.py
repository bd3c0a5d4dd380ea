sizes = [10, 20]
for size in sizes:
    print(sizes[size])
