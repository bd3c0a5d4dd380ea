year = 2024
print(year[::-1])
