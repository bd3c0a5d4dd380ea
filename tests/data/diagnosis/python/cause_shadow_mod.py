import random
random = random.random()
print(random.randint(1, 2))
