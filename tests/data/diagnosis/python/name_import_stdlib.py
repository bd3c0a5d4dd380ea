radius = 2.5


def area(r):
    return math.pi * r ** 2


print(area(radius))
