from math import *
print(sqrt(2), pi)
