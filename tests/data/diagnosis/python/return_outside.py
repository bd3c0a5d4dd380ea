import sys

numbers = [int(a) for a in sys.argv[1:]] or [3, 4]
total = 0
for n in numbers:
    total += n
return total
