def table(n):
    for i in range(1, n + 1):
        row = [i * j for j in range(1, n + 1)]
        print " ".join("%3d" % v for v in row)


table(3)
