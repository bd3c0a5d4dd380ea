import math


class Circle:
    def __init__(self, radius):
        self.radius = radius

    @property
    def area(self):
        return math.pi * self.radius ** 2


shapes = [Circle(1), Circle(2.5)]
for shape in shapes:
    print(f"{shape.area():.2f}")
