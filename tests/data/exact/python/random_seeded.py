import random
random.seed(42)
print(random.random(), random.randint(1, 100), random.choice("abc"), random.sample(range(100), 5), random.gauss(0, 1), random.shuffle(x := list(range(5))), x)
print(random.Random(1).random(), random.getstate()[0])
