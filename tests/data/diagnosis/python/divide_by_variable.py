cake = 8
people = 0

slices = cake / people
print(slices)
