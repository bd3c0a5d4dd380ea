import math


class Vector
    def __init__(self, x, y): 
        self.x, self.y = x, y

    def length(self):
        return math.hypot(self.x, self.y)


print(Vector(3, 4).length())
