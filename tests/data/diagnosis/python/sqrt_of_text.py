import math

side = "16"
print(math.sqrt(side))
