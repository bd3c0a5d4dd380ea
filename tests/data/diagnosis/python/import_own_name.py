from shop import calculate_totl

print(calculate_totl([1, 2]))
