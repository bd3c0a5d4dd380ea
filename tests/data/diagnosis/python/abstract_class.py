from abc import ABC, abstractmethod


class Shape(ABC):
    @abstractmethod
    def area(self): ...

    @abstractmethod
    def name(self): ...


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def name(self):
        return "square"


shapes = [Square(2)]
print(sum(s.area() for s in shapes))
