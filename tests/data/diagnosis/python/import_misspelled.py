from statistcs import mean

print(mean([1, 2, 3]))
