class Box:
    def __init__(self, width, height):
        self.width = width
        self.height = height

    def area(self):
        return self.width * self.height


box = Box(2, 3)
print(box.widht, box.area())
