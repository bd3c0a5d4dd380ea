import math

print(math(16))
