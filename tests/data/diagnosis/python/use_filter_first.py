numbers = [4, 8, 15]
even = [n * 2 if n % 2 == 0 for n in numbers]
print(even)
