class Point:
    """A place in the plane."""

    def __init__(self, x, y):
        self.x, self.y = x, y


origin = Point(0)
print(origin.x)
