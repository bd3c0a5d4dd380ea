n = 10
half = n / 2
for i in range(half): print(i)
