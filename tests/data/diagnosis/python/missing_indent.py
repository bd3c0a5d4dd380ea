class Shape:
    def __init__(self, sides):
        self.sides = sides

    def describe(self):
        for side in self.sides:
        print(side)

    def perimeter(self):
        return sum(self.sides)


Shape([1, 2, 3]).describe()
