import random
print(random.random(), random.__file__)
