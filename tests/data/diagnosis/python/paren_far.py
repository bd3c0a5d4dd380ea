import math


def distance(a, b):
    dx, dy = a[0] - b[0], a[1] - b[1]
    return math.sqrt((dx ** 2 + dy ** 2)


def nearest(point, others):
    return min(others, key=lambda o: distance(point, o))


print(nearest((0, 0), [(1, 1), (3, 4)]))
