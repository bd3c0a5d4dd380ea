class Point:
    def __init__(self, x):
        self.x = x

    def __str__(self):
        print(f"Point({self.x})")


print(Point(3))
