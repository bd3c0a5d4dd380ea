import math

print(math.sqr(16))
